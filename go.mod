module coatcheck

go 1.24.0

require (
	github.com/stretchr/testify v1.12.1
	go.uber.org/atomic v1.12.0
	golang.org/x/sync v0.19.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
