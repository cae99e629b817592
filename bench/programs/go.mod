module coatcheck/bench/programs

go 1.24.0

require (
	coatcheck v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sync v0.19.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace coatcheck => ../../
