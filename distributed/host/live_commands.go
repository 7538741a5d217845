package host

import (
	"encoding/json"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/distributed/records"
)

// awaitsTerms reports whether the run had ended, and it is not known yet on which terms
// it continues.
func (l *live) awaitsTerms() bool {
	all := l.journal.all()
	return len(all) > 0 && all[len(all)-1].Data.Kind() == event.KindChatReply && l.eventsAtTerms < len(all)
}

// again forgets what became of the attempts before a run was resumed.
func (l *live) again() {
	l.eventsAtTerms, l.stopped = len(l.journal.all()), nil
	l.attempts.forget()
}

// receive takes one command from the mailbox of the workflow, as a record announced, if
// it is there.
func (l *live) receive(ctx dbos.Context) error {
	line, err := dbos.Recv[string](ctx, records.Commands, 0)
	switch {
	case isTimeout(err), err == nil && line == "": // it was received before
		return nil
	case err != nil:
		return fmt.Errorf("receive a command: %w", err)
	}
	var in remote.Input
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		l.cfg.Logger.Warn("a command is ignored", "run", l.task.Run, "error", err)
		return nil
	}
	if in.Terms != nil {
		l.task.Agree(*in.Terms)
		l.again()
		return nil
	}
	if _, stop := in.Command.(session.Stop); stop && len(l.journal.of(l.task.Run)) == 0 {
		reply := records.StoppedBefore(in.By)
		l.stopped = &reply
	}
	l.held.hold(in)
	if l.session != nil {
		l.deliver()
	}
	return nil
}

// deliver gives the session the commands that it can take.
func (l *live) deliver() {
	for _, in := range l.held.ready() {
		l.session.Send(signed(in))
	}
}

// signed returns a command with its author.
func signed(in remote.Input) session.Command {
	switch c := in.Command.(type) {
	case session.Resolve:
		c.By = in.By
		return c
	case session.Edit:
		c.By = in.By
		return c
	case session.AnswerElicitation:
		c.By = in.By
		return c
	case session.Review:
		c.By = in.By
		return c
	case session.ResolveDoubt:
		c.By = in.By
		return c
	case session.ResolveFailure:
		c.By = in.By
		return c
	case session.Steer:
		c.By = in.By
		return c
	case session.Cancel:
		c.By = in.By
		return c
	case session.Stop:
		c.By = in.By
		return c
	default:
		return c
	}
}
