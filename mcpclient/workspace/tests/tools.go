package tests

import "replan/mcpclient/workspace/op"

// Tools returns the tools that run the tests of the workspace.
func (o *Operators) Tools() []op.Tool {
	return []op.Tool{
		op.Op[detectArgs, detectResult]{
			Name:        "test.detect",
			Description: "Find the projects of the workspace whose tests can be run. The result is {projects: [{kind, dir, command}]}.",
			ReadOnly:    true, Idempotent: true, Run: o.detect,
		}.Tool(),
		op.Op[testArgs, testResult]{
			Name: "test.run",
			Description: "Run the workspace's tests (go test, cargo test, npm test, pytest or make test, whichever fits). Fails when a test fails, unless allow_failures is true, and if there is no project with tests, unless allow_none is. " +
				"The result is {passed, summary, total, ok, skipped, failed: [name], failures: [{name, package, file, line, message}], command, output, duration_ms, sources: [{path, text}]}.",
			Commands: true, Run: o.test,
		}.Tool(),
		op.Op[lintArgs, lintResult]{
			Name: "test.lint",
			Description: "Check the workspace's code (go vet or golangci-lint, npm run lint, ruff or flake8, cargo clippy, whichever the project has and is installed). Fails if there are findings, unless allow_failures is true. " +
				"The result is {passed, summary, findings: [{file, line, message}], command, output}.",
			Commands: true, Run: o.lint,
		}.Tool(),
	}
}
