package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// conclude publishes a worker's outcome and carries out its next command.
func (s *Session) conclude(ctx context.Context, o outcome) {
	for _, data := range o.events {
		_ = s.publish(data)
	}
	if o.awaited != nil {
		s.awaited, s.skip = o.awaited, o.skip
		s.publishQueue()
	}
	if o.finish != nil {
		o.finish()
	}
	if o.next != nil {
		s.command(ctx, o.next)
	}
}

// restore replays the journal of the continued session and rebuilds its
// conversation. A goal joins the conversation only after its answer: a summary
// made in between covers only what came before the goal.
func (s *Session) restore() {
	if s.cfg.Restored == nil {
		return
	}
	goal := ""
	var mentions []prompt.Mention
	asked := func() {
		if goal != "" {
			s.conversation.ask(goal, mentions)
		}
		goal = ""
	}
	for _, e := range s.cfg.Restored.Events {
		s.seq = max(s.seq, e.Seq)
		switch d := e.Data.(type) {
		case event.ChatUser:
			if !strings.HasPrefix(string(d.Text), "/") {
				asked()
				goal, mentions = prompt.Unescaped(string(d.Text)), d.Mentions
			}
		case event.ChatReply:
			if d.Usage != nil {
				s.account.spend(*d.Usage, d.MS)
			}
			if d.Run != "" {
				asked()
				s.conversation.reply(string(d.Content()))
				s.conversation.note(d)
			}
		case event.ChatCompacted:
			s.conversation.recompact(d)
			s.account.spendOn(d)
		case event.ChatUndone:
			s.conversation.undo(d)
		default:
			continue
		}
		s.deliver(e)
	}
	asked()
}

// describe shows what is known about the model and the tools, unless the user
// chose another model since.
func (s *Session) describe(p prepared) {
	switch {
	case p.jobConfig.model != s.selection.name():
	case p.unfound != nil:
		s.status.Model, s.status.Problem, s.status.Trouble = "", untrusted.Text(p.unfound.Error()), prompt.TroubleOf(p.unfound)
	case p.err == nil && p.info.Name != "":
		s.status.Model, s.status.ContextWindow, s.status.Problem, s.status.Trouble = untrusted.Text(p.info.Name), p.info.ContextWindow, "", prompt.ModelTrouble{}
	case errors.Is(p.err, prompt.ErrNoModel):
		s.status.Model, s.status.Problem, s.status.Trouble = "", untrusted.Text(p.err.Error()), prompt.TroubleOf(p.err)
	}
	if p.all != nil {
		s.catalogue = p.all
	}
	s.publishStatus()
	if p.all != nil {
		s.misses(p.all)
	}
}

// publishStatus publishes the session's status.
func (s *Session) publishStatus() {
	before := s.status.Servers
	s.status.Servers = s.cfg.Tools.Status()
	s.status.Tools = 0
	for _, server := range s.status.Servers {
		s.status.Tools += server.Tools
	}
	t := s.jobConfig()
	if t.tools != nil {
		s.status.Tools = len(t.offered(s.catalogue))
	}
	s.status.Planner = s.preparation().routing(t.prompting, intent.Facts{}).Planner
	if s.status.PlannerModel = untrusted.Text(t.prompting.Models.Planner.Name); prompt.SameModel(s.status.PlannerModel, s.status.Model) {
		s.status.PlannerModel = ""
	}
	s.status.Profile, s.status.Think = untrusted.Text(s.selection.called()), t.prompting.Think
	s.status.ContextTokens, s.status.Review = s.opening(), s.cfg.Review
	_ = s.publish(s.status)
	for _, text := range s.cfg.Tools.Notes() {
		s.publishNote("info", text)
	}
	reportBadEntries(s)
	for _, server := range s.status.Servers {
		if slices.ContainsFunc(before, func(b plan.ServerStatus) bool { return b.Name == server.Name && b.Changes > server.Changes }) {
			s.troubles[server.Name] = string(server.Note) // the user has accepted a change, and knows the others
		}
		// Nobody wanted a stopped server, and a lost one that restarts was named
		// by the call that lost it.
		if what := cmp.Or(server.Error, server.Note); what != "" && server.State != plan.ServerStopped && server.State != plan.ServerStarting {
			s.trouble(server.Name, string(what))
		}
	}
}

// reportBadEntries reports, once, the servers whose entries cannot be used: several of them
// in one note.
func reportBadEntries(s *Session) {
	var names []string
	for _, server := range s.status.Servers {
		if server.BadEntry && s.troubles[server.Name] != string(server.Error) {
			names = append(names, strconv.Quote(server.Name))
		}
	}
	if len(names) < 2 {
		return // its own note says more
	}
	for _, server := range s.status.Servers {
		if slices.Contains(names, strconv.Quote(server.Name)) {
			s.troubles[server.Name] = string(server.Error)
		}
	}
	s.publishNote("warn", fmt.Sprintf("the entries of %d MCP servers cannot be used: %s; the servers view (alt+s) and replan mcp list say why", len(names), english.Some(names, 4, "")))
}

// trouble reports, once, what is wrong with a server.
func (s *Session) trouble(server, what string) {
	if s.troubles[server] != what {
		s.troubles[server] = what
		s.publishNote("warn", fmt.Sprintf("the MCP server %q: %s", server, what))
	}
}

// publishQueue publishes the job in preparation and the queue.
func (s *Session) publishQueue() {
	q := session.Queue{Doing: s.doing, Servers: s.awaited, Waiting: make([]string, len(s.queue)), Jobs: make([]session.QueuedJob, len(s.queue))}
	for i, j := range s.queue {
		q.Waiting[i], q.Jobs[i] = j.name(), session.QueuedJob{ID: j.id, Text: j.words}
	}
	_ = s.publish(q)
}

// publishNote publishes a note to the user.
func (s *Session) publishNote(level, text string) {
	_ = s.publish(event.Note{Level: level, Text: untrusted.Text(text)})
}

// publish journals and delivers an event of the session itself. The event is shown
// even if the journal cannot be written; the error is for callers that would act
// on it.
func (s *Session) publish(data event.Data) (err error) {
	s.seq++
	event := event.Event{Seq: s.seq, Time: s.cfg.Now().UTC(), Run: s.id, Data: data}
	if !data.Kind().Passing() {
		if err = s.journal.Append(event); err != nil {
			s.cfg.Logger.Error("the session's journal", "error", err)
		}
	}
	s.deliver(event)
	return err
}

func (s *Session) deliver(event event.Event) { s.events <- event }

// findBranch looks up the branch of the workspace.
func (s *Session) findBranch() {
	if s.cfg.Branch == nil {
		return
	}
	s.workers.Go(func() {
		branch := s.cfg.Branch()
		s.outcomes <- outcome{finish: func() {
			if s.status.Branch != untrusted.Text(branch) {
				s.status.Branch = untrusted.Text(branch)
				s.publishStatus()
			}
		}}
	})
}

// besideRuns carries out a command that is about no run: about models or logins.
func besideRuns(ctx context.Context, s *Session, c session.Command) {
	s.models.command(ctx, s, c)
	s.login.command(ctx, s, c)
}

// serverCommand ends the wait for tool servers, reads their configuration again,
// or restarts, disables, enables or stops one.
func (s *Session) serverCommand(c session.Command) {
	switch c := c.(type) {
	case session.SkipServers:
		if s.skip != nil {
			s.skip()
		}
	case session.Recheck:
		if err := s.cfg.Tools.Reload(); err != nil {
			s.publishNote("warn", err.Error())
		}
	case session.Revoke:
		if err := s.cfg.Tools.Revoke(c.Server); err != nil {
			s.publishNote("warn", err.Error())
		}
	case session.Restart:
		if err := s.cfg.Tools.Restart(c.Server); err != nil {
			s.publishNote("warn", err.Error())
			return
		}
		delete(s.troubles, c.Server) // report its next failure again
	case session.Disable:
		toggleServer(s, c.Server, func(ctx context.Context, tools Tools) (string, error) {
			return tools.Disable(ctx, c.Server, c.ForGood)
		})
	case session.Enable:
		toggleServer(s, c.Server, func(ctx context.Context, tools Tools) (string, error) { return tools.Enable(ctx, c.Server) })
	}
}

// serverLogin is the login to a tool server that is under way.
type serverLogin struct {
	server string // "" is none
	cancel func()
}

// command carries out a command about logins.
func (l *serverLogin) command(ctx context.Context, s *Session, c session.Command) {
	switch c := c.(type) {
	case session.Login:
		l.begin(ctx, s, c.Server)
	case session.CancelLogin:
		if l.server != "" {
			l.cancel()
		}
	}
}

// begin starts to log in.
func (l *serverLogin) begin(ctx context.Context, s *Session, server string) {
	if l.server != "" {
		problem := untrusted.Text("a login to " + l.server + " is under way: finish it, or cancel it first")
		_ = s.publish(session.LoginProgress{Server: server, Ended: true, Problem: problem})
		return
	}
	within, cancel := context.WithCancel(ctx)
	l.server, l.cancel = server, cancel
	_ = s.publish(session.LoginProgress{Server: server})
	tools, p := s.cfg.Tools, s.preparation()
	s.workers.Go(func() {
		err := tools.Login(within, server, func(address string) {
			p.outcomes <- outcome{events: []event.Data{session.LoginProgress{Server: server, Address: untrusted.Text(address)}}}
		}, nil)
		end := session.LoginProgress{Server: server, Ended: true, Cancelled: errors.Is(err, context.Canceled)}
		if err != nil && !end.Cancelled {
			end.Problem = untrusted.Text(err.Error())
		}
		p.outcomes <- outcome{finish: func() {
			l.cancel()
			l.server = ""
			_ = s.publish(end)
			if end.Problem == "" && !end.Cancelled {
				delete(s.troubles, server) // report its next failure again
			}
		}}
	})
}

// disableWithin limits how long a file with disabled servers is waited for.
const disableWithin = 5 * time.Second

// toggleServer disables or enables a server, and reports the changed file or why it
// was not possible.
func toggleServer(s *Session, server string, do func(context.Context, Tools) (file string, err error)) {
	tools := s.cfg.Tools
	s.workers.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), disableWithin)
		defer cancel()
		file, err := do(ctx, tools)
		s.outcomes <- outcome{finish: func() {
			delete(s.troubles, server) // report its next failure again
			switch {
			case err != nil:
				s.publishNote("warn", err.Error())
			case file != "":
				s.publishNote("info", fmt.Sprintf("the choice about the MCP server %q is saved in %s", server, file))
			}
			s.publishStatus()
		}}
	})
}

// instructions is what the servers of tools say about themselves, by name.
func instructions(servers []plan.ServerStatus, tools plan.Catalogue) map[string]untrusted.Text {
	said := map[string]untrusted.Text{}
	for _, server := range servers {
		if server.Instructions != "" && slices.ContainsFunc(tools, func(t plan.Tool) bool { return t.Server == server.Name }) {
			said[server.Name] = server.Instructions
		}
	}
	return said
}
