package app

import (
	"context"
	"io"
	"strings"

	"replan/agent/session"
	"replan/cli/ask"
	"replan/cli/exit"
)

// Input are the answers of the user to questions on standard output.
type Input struct {
	answers *ask.Input
	out     *Output
	to      io.Writer
}

// Confirm asks a question of yes or no.
func (i *Input) Confirm(ctx context.Context, question string) (yes bool, err error) {
	yes, err = i.answers.Confirm(ctx, i.out.Colored(i.to), question, i.out.Styles())
	return yes, exit.Wrap(exit.Writing, err)
}

// Ask asks a question and returns the answer in small letters.
func (i *Input) Ask(ctx context.Context, question string) (string, error) {
	line, _, err := i.answers.AskIn(ctx, i.out.Colored(i.to), question, i.out.Styles())
	return strings.ToLower(strings.TrimSpace(line)), err
}

// Questions asks the questions of a run, and sends the answers.
func (i *Input) Questions(text *ask.Output, send func(session.Command), how ask.Options) *ask.Questions {
	return ask.New(i.answers, text, send, how)
}
