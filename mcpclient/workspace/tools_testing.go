package workspace

// testOperators are the tools that run the tests of the workspace.
func (o *Operators) testOperators() []operator {
	allow := optional("allow_failures", "boolean", "answer what was found instead of failing")
	return []operator{
		{
			name:        "test.detect",
			description: "Find the projects of the workspace whose tests can be run. The result is {projects: [{kind, dir, command}]}.",
			args: []arg{
				optional("path", "string", "folder to look in; the whole workspace where it is left out"),
			},
			readOnly: true, idempotent: true, result: detectResult{}, run: o.detect,
		},
		{
			name: "test.run",
			description: "Run the workspace's tests (go test, cargo test, npm test, pytest or make test, whichever fits). Fails when a test fails, unless allow_failures is true, and where there is no project with tests, unless allow_none is. " +
				"The result is {passed, summary, total, ok, skipped, failed: [name], failures: [{name, package, file, line, message}], command, output, duration_ms, sources: [{path, text}]}.",
			args: []arg{
				optional("path", "string", "package or folder to test, like ./internal/auth; everything where it is left out"),
				optional("run", "string", "only tests whose names match this regular expression"),
				optional("timeout", "string", "longest time to run, like 90s or 5m; 10m where it is left out"),
				allow,
				optional("sources", "boolean", "bring the files of the tests that fail along, and those that they test"),
				optional("allow_none", "boolean", "pass where there is no project with tests, instead of failing"),
			},
			result: testResult{}, run: o.test,
		},
		{
			name: "test.lint",
			description: "Check the workspace's code (go vet or golangci-lint, npm run lint, ruff or flake8, cargo clippy, whichever the project has and is installed). Fails when there is something to mend, unless allow_failures is true. " +
				"The result is {passed, summary, findings: [{file, line, message}], command, output}.",
			args: []arg{
				optional("path", "string", "package or folder to check; everything where it is left out"),
				optional("timeout", "string", "longest time to run, like 90s or 5m; 10m where it is left out"),
				allow,
			},
			result: lintResult{}, run: o.lint,
		},
	}
}
