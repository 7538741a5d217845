module example.com/embed

go 1.26.0

require replan v0.0.0

require (
	github.com/RealAlexandreAI/json-repair v0.0.18 // indirect
	github.com/agnivade/levenshtein v1.2.1 // indirect
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/go-json-experiment/json v0.0.0-20250910080747-cc2cfa0554c3 // indirect
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace replan => ../..
