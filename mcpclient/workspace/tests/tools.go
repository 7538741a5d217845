package tests

import "replan/mcpclient/workspace/op"

// Tools returns the tools that run the tests of the workspace.
func (o *Operators) Tools() []op.Tool {
	return []op.Tool{
		op.Op[detectArgs, detectResult]{
			Name:        "test.detect",
			Description: "Find the projects of the workspace whose tests can be run. The result is {projects: [{kind, dir, command}]}.",
			ReadOnly:    true, Idempotent: true, Run: o.projects.detect,
		}.Tool(),
		op.Op[testArgs, testResult]{
			Name: "test.run",
			Description: "Run the tests (go test, pytest, cargo test, npm test or make test). Fails if a test fails, unless allow_failures is true, and if there are none, unless allow_none is. " +
				"The result is {passed, summary, total, ok, skipped, failed: [name], failures: [{name, package, file, line, message}], command, output, duration_ms, sources: [{path, text}]}.",
			Commands: true, Run: o.runner.test,
		}.Tool(),
		op.Op[lintArgs, lintResult]{
			Name: "test.lint",
			Description: "Run the linter (golangci-lint, go vet, npm run lint, ruff, flake8 or cargo clippy). Fails if it finds something, unless allow_failures is true. " +
				"The result is {passed, summary, findings: [{file, line, message}], command, output}.",
			Commands: true, Run: o.linters.lint,
		}.Tool(),
	}
}
