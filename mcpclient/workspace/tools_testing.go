package workspace

// testOperators are the tools that run the tests of the workspace.
func (o *Operators) testOperators() []operator {
	return []operator{
		{
			name:        "test.run",
			description: "Run the workspace's tests (go test, cargo test, npm test or pytest, whichever fits). Fails when a test fails. The result is {passed, summary, failed, command, output}.",
			args: []arg{
				optional("path", "string", "package or folder to test, like ./internal/auth; everything where it is left out"),
				optional("run", "string", "only tests whose names match this regular expression"),
				optional("timeout", "string", "longest time to run, like 90s or 5m; 5m where it is left out"),
			},
			result: testResult{}, run: o.test,
		},
	}
}
