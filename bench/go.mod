module coatcheck/bench

go 1.24.0

require (
	coatcheck v0.0.0
	github.com/jackc/puddle/v2 v2.2.2
	github.com/maypok86/otter/v2 v2.3.0
	github.com/mlange-42/ark v0.8.0
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/perf v0.0.0-20250813145418-2f7363a06fe1
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.19.0 // indirect
)

replace coatcheck => ../

tool golang.org/x/perf/cmd/benchstat
