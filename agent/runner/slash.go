package runner

import (
	"context"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// slash carries out a line that begins with a slash.
func (s *Session) slash(ctx context.Context, line string) {
	_ = s.publish(event.ChatUser{Text: untrusted.Text(line)})
	now := SlashState{Model: s.selection.name(), Think: s.jobConfig().prompting.Think, Busy: s.busy()}
	s.workers.Go(func() {
		answer, err := s.cfg.Slash(ctx, line, now)
		o := outcome{next: answer.Then}
		switch {
		case err != nil:
			o.events = append(o.events, failed(event.ReasonNotOpened, err.Error()))
		case answer.Text != "" || answer.Then == nil:
			o.events = append(o.events, event.ChatReply{Text: untrusted.Text(answer.Text)})
		}
		s.outcomes <- o
	})
}
