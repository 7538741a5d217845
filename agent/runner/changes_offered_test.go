package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
)

// workingCopy records what a session asks of the copy that runs work in.
type workingCopy struct {
	mu      sync.Mutex
	calls   []string
	changes event.Changes
	choice  event.ChangesChoice
	refused error
}

func (w *workingCopy) note(call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
}

func (w *workingCopy) Refresh(_ context.Context, resume string) error {
	w.note("refresh " + resume)
	return w.refused
}

func (w *workingCopy) Begin(run string) (bool, error) {
	w.note("begin " + run)
	return true, nil
}

func (w *workingCopy) Changes(context.Context) (event.Changes, error) {
	w.note("changes")
	return w.changes, nil
}

func (w *workingCopy) Settle(_ context.Context, choice event.ChangesChoice) (event.SettledChanges, error) {
	w.note("settle")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.choice = choice
	if choice.All {
		return event.SettledChanges{Runs: []string{"r-2"}, Taken: []event.ChangedFile{{Path: "a.txt"}}}, nil
	}
	return event.SettledChanges{Runs: []string{"r-2"}, Dropped: []string{"a.txt"}}, nil
}

// copied lets runs of a session work in a copy.
func copied(w *workingCopy) func(*stage) {
	return func(s *stage) {
		s.config = func(c *runner.Config) { c.Copy = w }
	}
}

func TestChangesInTheCopyAreOfferedAtTheEndOfARun(t *testing.T) {
	w := &workingCopy{changes: event.Changes{Offer: "1", Runs: []string{"r-2"}, Files: []event.ChangedFile{{Path: "a.txt"}}}}
	s := open(t, policy.ApproveAll, copied(w))
	if started := s.run(t, "do it"); !started.Copied {
		t.Error("the journal does not say that the run works in a copy")
	}
	if got := until[session.ChangesOffered](t, s); got.Offer != "1" || len(got.Files) != 1 {
		t.Errorf("got the offer %+v", got)
	}
	s.Send(session.SettleChanges{Choice: event.ChangesChoice{Offer: "1", All: true}})
	if got := until[session.ChangesSettled](t, s); len(got.Taken) != 1 || got.Refused != "" {
		t.Errorf("got %+v", got)
	}
	if reply := until[event.ChatReply](t, s); !strings.Contains(string(reply.Text), "- `a.txt`") {
		t.Errorf("got the reply %q", reply.Text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if want := []string{"refresh ", "begin r-2", "changes", "settle"}; !slices.Equal(w.calls, want) || w.choice.Offer != "1" {
		t.Errorf("got the calls %q with %+v, want %q", w.calls, w.choice, want)
	}
}

func TestRunsWhoseChangesAreDroppedAreUndone(t *testing.T) {
	w := &workingCopy{changes: event.Changes{Offer: "1", Files: []event.ChangedFile{{Path: "a.txt"}}}}
	s := open(t, policy.ApproveAll, copied(w))
	s.run(t, "do it")
	until[session.ChangesOffered](t, s)
	s.Send(session.SettleChanges{Choice: event.ChangesChoice{Offer: "1"}})
	if got := until[event.ChatUndone](t, s); got.Run != "r-2" {
		t.Errorf("got %+v", got)
	}
}

func TestAnswerThatNamesNoOfferIsToTheLastShown(t *testing.T) {
	w := &workingCopy{changes: event.Changes{Offer: "1", Files: []event.ChangedFile{{Path: "a.txt"}}}}
	s := open(t, policy.ApproveAll, copied(w))
	s.Send(session.SettleChanges{Choice: event.ChangesChoice{All: true}})
	if got := until[event.Note](t, s); got.Text != "nothing was taken or dropped: look at the changes first" {
		t.Errorf("got %+v", got)
	}
	until[session.ChangesOffered](t, s)
	s.Send(session.SettleChanges{Choice: event.ChangesChoice{All: true}})
	until[session.ChangesSettled](t, s)
	w.mu.Lock()
	defer w.mu.Unlock()
	if want := []string{"changes", "settle"}; !slices.Equal(w.calls, want) || w.choice.Offer != "1" {
		t.Errorf("got the calls %q with %+v, want %q", w.calls, w.choice, want)
	}
}

func TestRunDoesNotStartWithoutItsCopy(t *testing.T) {
	w := &workingCopy{refused: errors.New("the disk is full")}
	s := open(t, policy.ApproveAll, copied(w))
	s.Send(session.Submit{Text: "do it"})
	if reply := until[event.ChatReply](t, s); reply.Status != event.StatusFailed || !strings.Contains(string(reply.Text), "the disk is full") {
		t.Errorf("got %+v", reply)
	}
}
