package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
	"replan/internal/untrusted"
)

// workerProgram is the scripts' program replan-worker. Its database is a file with the
// events of a run of this machine, which it plays to whoever asks for a run. At a gate
// that somebody answered it waits for the answer. The journal of a run that was resumed
// ends before that.
//
//	fake:FILE    plays the events of FILE, and appends each request to FILE.requests;
//	             FILE can also be the summary of a run that has not begun;
//	             with FILE.waits the run waits, for what that file says
//	fake:!CODE   reports a problem with this code
//	fake:!dies   ends at once
func workerProgram() {
	address, ok := strings.CutPrefix(os.Getenv("REPLAN_ON"), "fake:")
	if !ok || len(os.Args) != 2 || os.Args[1] != "attach" {
		fmt.Fprintln(os.Stderr, "the address belongs into REPLAN_ON alone")
		os.Exit(9)
	}
	p := played{file: address, in: bufio.NewReader(os.Stdin)}
	line, err := p.in.ReadString('\n')
	if err != nil {
		os.Exit(8)
	}
	if code, bad := strings.CutPrefix(address, "!"); bad {
		if code == "dies" {
			fmt.Fprintln(os.Stderr, "a last word")
			os.Exit(3)
		}
		p.put(remote.Output{Problem: &remote.Problem{Code: code, Text: untrusted.Text("the sentence of " + code)}})
		return
	}
	var r remote.Request
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		os.Exit(8)
	}
	log, err := os.OpenFile(address+".requests", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = log.WriteString(line)
	}
	if err != nil || log.Close() != nil {
		os.Exit(7)
	}
	p.answer(r)
	p.put(remote.Output{End: true})
}

type played struct {
	file   string
	in     *bufio.Reader
	events []event.Event
	run    *agent.Run
}

func (p *played) put(o remote.Output) {
	line, err := json.Marshal(o)
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	if err != nil {
		os.Exit(5)
	}
}

// answer answers a request.
func (p *played) answer(r remote.Request) {
	p.run = agent.NewRun(nil)
	file, err := os.ReadFile(p.file)
	if err != nil {
		os.Exit(6)
	}
	if p.notBegun(r, file) {
		return
	}
	for line := range strings.Lines(string(file)) {
		var e event.Event
		if json.Unmarshal([]byte(line), &e) != nil || p.run.Apply(e) != nil {
			os.Exit(6)
		}
		p.events = append(p.events, e)
	}
	session := "s-" + strings.TrimPrefix(p.run.ID, "r-")
	switch {
	case r.Runs != nil:
		p.put(remote.Output{Runs: []agent.Summary{p.run.Summary()}})
		return
	case r.Journal != nil && !strings.HasSuffix(p.run.ID, r.Journal.Run):
		p.put(remote.Output{Problem: &remote.Problem{Code: remote.CodeNotFound, Text: untrusted.Text("the database has no run " + r.Journal.Run)}})
		os.Exit(0)
	}
	if r.Journal != nil {
		summary := p.run.Summary()
		if why, err := os.ReadFile(p.file + ".waits"); err == nil {
			summary.Status, summary.Resumable, summary.Why = agent.StatusWaiting, false, untrusted.Text(why)
		}
		p.put(remote.Output{Runs: []agent.Summary{summary}})
	} else {
		p.put(remote.Output{Accepted: &remote.Accepted{Run: p.run.ID, Session: session}})
	}
	if r.Submit != nil && len(r.Submit.Needs.Servers) > 0 {
		p.put(remote.Output{Note: "no worker has the MCP server " + untrusted.Text(r.Submit.Needs.Servers[0]) + " yet"})
	}
	if r.Detach {
		return
	}
	user := event.Event{Seq: 1, Time: p.events[0].Time, Run: session, Data: event.ChatUser{Text: p.run.Goal}}
	p.put(remote.Output{Event: &user, Past: r.Submit == nil})
	for _, e := range p.events {
		if e.Data.Kind() == event.KindRunResumed {
			if r.Journal != nil {
				return
			}
			r.Resume = nil
		}
		if d, ok := e.Data.(event.GateResolved); ok && d.By == "user" {
			if r.Journal != nil {
				return
			}
			d.By = p.answered(d.Gate)
			e.Data, r.Follow = d, nil
		}
		p.put(remote.Output{Event: &e, Past: r.Follow != nil || r.Journal != nil || r.Resume != nil})
	}
	if r.Journal == nil {
		result := p.run.Result
		reply := event.ChatReply{Run: p.run.ID, Status: result.Status, Reason: result.Reason, Text: result.Answer}
		p.put(remote.Output{Event: &event.Event{Seq: 2, Time: time.Now(), Run: session, Data: reply}})
	}
}

// notBegun answers a request if the file holds the summary of a run without events.
func (p *played) notBegun(r remote.Request, file []byte) bool {
	var s agent.Summary
	if json.Unmarshal(file, &s) != nil || s.Run == "" || s.Status == "" {
		return false
	}
	if r.Follow != nil {
		p.put(remote.Output{Accepted: &remote.Accepted{Run: s.Run, Session: "s-" + strings.TrimPrefix(s.Run, "r-")}})
		p.put(remote.Output{Note: s.Why})
		by := p.answered("")
		p.put(remote.Output{Event: &event.Event{Seq: 1, Time: time.Now(), Run: "s-" + strings.TrimPrefix(s.Run, "r-"), Data: event.ChatReply{
			Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Text: untrusted.Text("stopped by " + by),
		}}})
		return true
	}
	p.put(remote.Output{Runs: []agent.Summary{s}})
	return true
}

// answered waits for the answer to a gate, or without one for a stop, and returns who
// sent it.
func (p *played) answered(gate string) string {
	if conn := announce("waits"); conn != nil {
		defer conn.Close() //nolint:errcheck // nothing more is written
	}
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			os.Exit(0) // detached
		}
		var in remote.Input
		if json.Unmarshal([]byte(line), &in) != nil {
			os.Exit(4)
		}
		resolve, ok := in.Command.(session.Resolve)
		_, stop := in.Command.(session.Stop)
		if in.By != "" && (ok && resolve.Gate == gate || stop && gate == "") {
			return in.By
		}
	}
}
