package process

import "replan/mcpclient/workspace/op"

// Tools are the tools that run any program.
func (o *Operators) Tools() []op.Tool {
	return []op.Tool{
		op.Op[procArgs, procResult]{
			Name: "proc.run",
			Description: "Run a program in the workspace and wait until it ends. Pass argv, or shell for a script of the system shell. Fails if the exit code is not 0, unless allow_failure is true. " +
				`Example: {"argv": ["go", "generate", "./..."]}. The result is {exit, output, timed_out, command, duration_ms}.`,
			OneOf:       [][]string{{"argv"}, {"shell"}},
			Destructive: true, OpenWorld: true, Run: o.proc,
		}.Tool(),
	}
}
