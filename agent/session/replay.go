package session

import (
	"cmp"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
)

// ReplayID is the id of the session that [ReplayEvents] creates around a run.
const ReplayID = "s-replay"

// longestRest bounds the pause between two events of a replay. Users do not want to sit
// through a wait at a gate or the days between a stop and a resume.
const longestRest = 2 * time.Second

// Rest returns how long a replay pauses between two events that were gap apart,
// at the given speed factor. At speed 0 it never pauses.
func Rest(gap time.Duration, speed float64) time.Duration {
	if speed <= 0 {
		return 0
	}
	return time.Duration(min(max(float64(gap)/speed, 0), float64(longestRest)))
}

// ReplayEvents wraps the events of a run in a session, for replay: the
// request, the run and the answer.
func ReplayEvents(id string, events []event.Event) []event.Event {
	if len(events) == 0 {
		return nil
	}
	run := agent.NewRun(nil)
	reply := event.ChatReply{Run: id, Text: untrusted.Text("the journal ends here and the run is unfinished; to continue it: replan plan resume " + id)}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			reply.Text = untrusted.Text("the journal cannot be followed to its end: " + err.Error())
			break
		}
	}
	switch r := run.Result; {
	case r == nil && run.Undone != nil:
		reply.Text = "the journal ends here: the run did not end, and is undone since, so it cannot be continued"
	case r != nil:
		reply = event.ChatReply{Run: id, Status: r.Status, Reason: r.Reason, Text: cmp.Or(r.Answer, r.Error)}
	}
	first, last := events[0], events[len(events)-1]
	all := make([]event.Event, 0, len(events)+3)
	all = append(all,
		event.Event{Seq: 1, Time: first.Time, Run: ReplayID, Data: Status{
			Workspace: untrusted.Text(run.Workspace), Model: untrusted.Text(run.Model), ContextWindow: run.ContextWindow, Tools: len(run.Catalog),
		}},
		event.Event{Seq: 2, Time: first.Time, Run: ReplayID, Data: event.ChatUser{Text: run.Goal}},
	)
	all = append(all, events...)
	return append(all, event.Event{Seq: 3, Time: last.Time, Run: ReplayID, Data: reply})
}
