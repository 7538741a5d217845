package lines

import (
	"errors"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/internal/untrusted"
)

// asksSide reports whether the job itself is a side question. Those that are asked at a gate end no job.
func (job Job) asksSide() bool {
	return slices.ContainsFunc(job.Commands, func(c session.Command) bool {
		typed, ok := c.(session.Submit)
		name, _, _ := strings.Cut(strings.TrimSpace(typed.Text), " ")
		return ok && name == session.SideCommand
	})
}

// sideEnded converts the end of a side question to an error with its exit code.
func sideEnded(a *app.App, end event.ChatSide, written error) error {
	switch {
	case written != nil:
		return unwritten(written)
	case end.Status == event.StatusCanceled:
		return &exit.Error{Status: exit.Interrupted, Code: string(event.ReasonInterrupted), Err: errors.New(end.Error.Visible())}
	case end.Status != event.StatusCompleted:
		why := exit.ErrReported // the log has printed it
		if a.Out().JSON() {
			why = errors.New(end.Error.Visible())
		}
		return &exit.Error{Status: event.ReasonStepFailed.ExitCode(), Code: string(event.ReasonStepFailed), Err: why}
	case a.Out().JSON():
		return a.Out().PrintJSON(map[string]untrusted.Text{"text": end.Text})
	default:
		return nil
	}
}
