module coatcheck/examples/cgo

go 1.24.0

require (
	coatcheck v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.19.0 // indirect
)

replace coatcheck => ../../
