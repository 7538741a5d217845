package workspace

// procOperators are the tools that run any program.
func (o *Operators) procOperators() []operator {
	return []operator{
		{
			name: "proc.run",
			description: "Run a program in the workspace and wait for its end. Give argv, or shell for a script of the system's shell. Fails when the exit code is not 0, unless allow_failure is true. " +
				`Example: {"argv": ["go", "generate", "./..."]}. The result is {exit, output, timed_out, command, duration_ms}.`,
			args: []arg{
				{name: "argv", kind: "array", items: "string", description: "the program and its arguments, as they are: no shell reads them"},
				optional("shell", "string", "script for sh, or cmd on Windows, instead of argv"),
				optional("dir", "string", "folder of the workspace to run in; the workspace itself where it is left out"),
				optional("timeout", "string", "longest time to run, like 90s or 5m, at most 30m; 2m where it is left out"),
				optional("allow_failure", "boolean", "answer the exit code instead of failing"),
			},
			oneOf:       [][]string{{"argv"}, {"shell"}},
			destructive: true, openWorld: true, result: procResult{}, run: o.proc,
		},
	}
}
