package intake_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"replan/agent/runner/intake"
	"replan/agent/session"
	"replan/planning/prompt"
)

// next returns the actions of an intake until it has nothing to do, with the goals.
func next(t *testing.T, in *intake.Intake, free bool) (steps []string) {
	t.Helper()
	names := map[intake.Action]string{intake.Show: "show", intake.Read: "read", intake.Prepare: "prepare", intake.Restore: "restore"}
	for {
		_, step := in.Next(t.Context(), free)
		switch step.Action {
		case intake.Nothing:
			return steps
		case intake.Show:
			in.Queue()
			steps = append(steps, "show")
			continue
		case intake.Prepare, intake.Restore:
			in.Queue()
			free = false
		}
		steps = append(steps, names[step.Action]+" "+step.Job.Name())
	}
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestJobsBeginInTheOrderTheyCame(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("read @a"))
	in.Add(intake.Words("second"))
	equal(t, "both typed", next(t, in, true), "read read @a")
	in.TakeMentions([]prompt.Mention{{Name: "a"}}, nil, false)
	equal(t, "mentions read", next(t, in, true), "prepare read @a", "show")
	if err := in.Prepared(); err != nil {
		t.Error(err)
	}
	equal(t, "first began", next(t, in, false), "show")
	equal(t, "first ended", next(t, in, true), "prepare second")
}

func TestMentionsOfWaitingJobAreReadWhenItBegins(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("read @a"))
	next(t, in, false)
	in.TakeMentions([]prompt.Mention{{Name: "a", Text: "old"}}, nil, true)
	equal(t, "has to wait", next(t, in, false), "show")
	equal(t, "may begin", next(t, in, true), "read read @a", "show")
	in.TakeMentions([]prompt.Mention{{Name: "a", Text: "new"}}, nil, false)
	_, step := in.Next(t.Context(), true)
	if step.Action != intake.Prepare || step.Job.Mentions[0].Text != "new" {
		t.Errorf("got %+v", step)
	}
}

// A job that waited may begin while those of a later one are read.
func TestMentionsBelongToTheJobThatWasRead(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("waits @a"))
	next(t, in, false)
	in.TakeMentions([]prompt.Mention{{Name: "a"}}, nil, true)
	in.Add(intake.Words("later @b"))
	equal(t, "a later one comes", next(t, in, false), "show", "read later @b")
	equal(t, "the first may begin", next(t, in, true))
	if j := in.TakeMentions([]prompt.Mention{{Name: "b"}}, nil, false); j.Name() != "later @b" {
		t.Errorf("the mentions went to %q", j.Name())
	}
	equal(t, "the later one is read", next(t, in, true), "read waits @a", "show")
	in.TakeMentions([]prompt.Mention{{Name: "a"}}, nil, false)
	equal(t, "the first is read", next(t, in, true), "prepare waits @a")
}

func TestReadJobBeginsBeforeThoseBehindIt(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("waits @a"))
	next(t, in, false)
	in.TakeMentions(nil, nil, true)
	in.Add(intake.Job{Resume: "r-1"})
	next(t, in, false)
	equal(t, "may begin", next(t, in, true), "read waits @a", "show")
	in.TakeMentions(nil, nil, false)
	equal(t, "was read", next(t, in, true), "prepare waits @a")
	_ = in.Prepared()
	equal(t, "the next", next(t, in, true), "prepare resume r-1")
}

func TestUnreadableMentionsEndJob(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("read @a"))
	next(t, in, true)
	if j := in.TakeMentions(nil, errors.New("there is no a"), false); j.Typed != "read @a" {
		t.Errorf("got back %q", j.Typed)
	}
	equal(t, "after it", next(t, in, true))
	if !in.Idle() {
		t.Error("something is underway")
	}
}

func TestWithoutReaderMentionsArePlainText(t *testing.T) {
	in := intake.New(false)
	in.Add(intake.Words("read @a"))
	equal(t, "typed", next(t, in, true), "prepare read @a")
}

func TestStopEndsWhatIsUnderwayAndReturnsTheRest(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("first"))
	within, step := in.Next(t.Context(), true)
	if step.Action != intake.Prepare {
		t.Fatalf("got %+v", step)
	}
	for _, text := range []string{"second", "third @a", "fourth"} {
		in.Add(intake.Words(text))
	}
	equal(t, "others come", next(t, in, false), "show", "show", "read third @a")
	queued, unread := in.Stop()
	if len(queued) != 1 || queued[0].Name() != "second" || len(unread) != 1 || unread[0].Name() != "fourth" {
		t.Errorf("got back %+v and %+v", queued, unread)
	}
	if within.Err() == nil {
		t.Error("the preparation goes on")
	}
	if err := in.Prepared(); !errors.Is(err, context.Canceled) {
		t.Errorf("prepared: %v", err)
	}
}

func TestRemovedJobDoesNotBegin(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("first"))
	in.Add(intake.Words("second"))
	next(t, in, false)
	if j, found := in.Remove(2); !found || j.Words != "second" {
		t.Errorf("removed %+v, %t", j, found)
	}
	if _, found := in.Remove(2); found {
		t.Error("it was removed twice")
	}
	equal(t, "after it", next(t, in, true), "prepare first")
	if q := in.Queue(); q.Doing != "first" || len(q.Waiting) != 0 {
		t.Errorf("the queue is %+v", q)
	}
}

func TestQueueNamesServersUntilJobIsPrepared(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("first"))
	next(t, in, true)
	skipped := false
	in.Await([]string{"slow"}, func() { skipped = true })
	equal(t, "it waits", next(t, in, false), "show")
	if q := in.Queue(); !slices.Equal(q.Servers, []string{"slow"}) {
		t.Errorf("the queue is %+v", q)
	}
	if in.SkipServers(); !skipped {
		t.Error("the wait goes on")
	}
	_ = in.Prepared()
	if q := in.Queue(); q.Doing != "" || q.Servers != nil {
		t.Errorf("the queue is %+v", q)
	}
}

func TestRestoringAndSummarizingAreJobs(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Job{Compact: true})
	in.Add(intake.Job{Restore: true})
	in.Add(intake.Job{Execute: &session.Execute{}})
	equal(t, "commands", next(t, in, true), "prepare summarize the conversation")
	_ = in.Prepared()
	equal(t, "the next", next(t, in, true), "restore restore the conversation")
}

func TestOneJobIsPreparedAtATime(t *testing.T) {
	in := intake.New(true)
	in.Add(intake.Words("first"))
	in.Add(intake.Words("second"))
	equal(t, "both typed", next(t, in, true), "prepare first", "show")
	equal(t, "still preparing", next(t, in, true))
	_ = in.Prepared()
	equal(t, "prepared", next(t, in, true), "prepare second")
}
