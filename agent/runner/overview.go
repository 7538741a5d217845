package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// overview is what a session works with: its model, its tools and their servers, and
// what the next run would begin with. It publishes the session's status.
type overview struct {
	events       *publisher
	background   *background
	tools        Tools
	branch       func() string                 // nil skips the lookup
	dirty        func(ctx context.Context) int // nil skips the count
	routing      event.Routing
	settings     *settings
	conversation *conversation
	measurements *measurements
	account      *account

	status   session.Status
	catalog  plan.Catalog      // as last seen; nil if unknown
	troubles map[string]string // last reported problem of each server and profile
}

// publishStatus publishes the session's status and what is new about its servers.
func (o *overview) publishStatus() {
	before := o.status.Servers
	o.status.Servers = o.tools.Status()
	o.status.Tools = 0
	for _, server := range o.status.Servers {
		o.status.Tools += server.Tools
	}
	t := o.jobConfig()
	if t.tools != nil {
		o.status.Tools = len(t.offered(o.catalog))
	}
	o.status.Planner = t.routing(o.routing, intent.Facts{}).Planner
	if o.status.PlannerModel = untrusted.Text(t.prompting.Models.Planner.Name); prompt.SameModel(o.status.PlannerModel, o.status.Model) {
		o.status.PlannerModel = ""
	}
	o.status.Profile, o.status.Think = untrusted.Text(o.settings.profile()), t.prompting.Think
	o.status.ContextTokens, o.status.Review = o.opening(), o.settings.reviews()
	_ = o.events.publish(o.status)
	for _, text := range o.tools.Notes() {
		o.events.note("info", text)
	}
	o.reportBadEntries()
	for _, server := range o.status.Servers {
		if slices.ContainsFunc(before, func(b plan.ServerStatus) bool { return b.Name == server.Name && b.Changes > server.Changes }) {
			o.troubles[server.Name] = string(server.Note) // the user has accepted a change, and knows the others
		}
		// A stopped server was not wanted, and a lost one that restarts was named
		// by the call that lost it.
		if what := cmp.Or(server.Error, server.Note); what != "" && server.State != plan.ServerStopped && server.State != plan.ServerStarting {
			o.trouble(server.Name, string(what))
		}
	}
}

// reportBadEntries reports, once, the servers whose entries cannot be used: several of them
// in one note.
func (o *overview) reportBadEntries() {
	var names []string
	for _, server := range o.status.Servers {
		if server.BadEntry && o.troubles[server.Name] != string(server.Error) {
			names = append(names, strconv.Quote(server.Name))
		}
	}
	if len(names) < 2 {
		return // its own note says more
	}
	for _, server := range o.status.Servers {
		if slices.Contains(names, strconv.Quote(server.Name)) {
			o.troubles[server.Name] = string(server.Error)
		}
	}
	o.events.note("warn", fmt.Sprintf("the entries of %d MCP servers cannot be used: %s; the servers view (alt+s) and replan mcp list say why", len(names), english.Some(names, 4, "")))
}

// trouble reports, once, what is wrong with a server.
func (o *overview) trouble(server, what string) {
	if o.troubles[server] != what {
		o.troubles[server] = what
		o.events.note("warn", fmt.Sprintf("the MCP server %q: %s", server, what))
	}
}

// forget has the next problem of a server reported again.
func (o *overview) forget(server string) { delete(o.troubles, server) }

// foundModel takes what was found out about a model, unless the user chose another one
// since.
func (o *overview) foundModel(asked string, info prompt.ModelInfo, err error) {
	switch {
	case asked != o.settings.model():
	case err == nil && info.Name != "":
		o.use(info)
	case errors.Is(err, prompt.ErrNoModel):
		o.status.Model, o.status.Problem, o.status.Trouble = "", untrusted.Text(err.Error()), prompt.TroubleOf(err)
	}
}

// foundTools takes the tools of all servers, and publishes the status. nil tells nothing
// about them.
func (o *overview) foundTools(all plan.Catalog) {
	if all != nil {
		o.catalog = all
	}
	o.publishStatus()
	if all != nil {
		o.reportUnmatched(all)
	}
}

// reportUnmatched reports, once, which patterns of the profiles match no tool. It stays
// silent while a server is missing, since its tools are unknown.
func (o *overview) reportUnmatched(all plan.Catalog) {
	if slices.ContainsFunc(o.status.Servers, func(server plan.ServerStatus) bool {
		return server.State != plan.ServerReady && server.State != plan.ServerStopped // a stopped server is not wanted
	}) {
		return
	}
	profiles, patterns := o.settings.unmatched(all)
	for _, name := range profiles {
		if key, what := "profile "+name, patterns[name]; o.troubles[key] != what {
			o.troubles[key] = what
			o.events.note("warn", fmt.Sprintf("the profile %q: there is no tool %s (replan tools lists them)", name, what))
		}
	}
}

// use takes a model as the one that answers. It reports whether that is another one.
func (o *overview) use(info prompt.ModelInfo) (other bool) {
	other = untrusted.Text(info.Name) != o.status.Model
	o.status.Model, o.status.ContextWindow, o.status.Problem, o.status.Trouble = untrusted.Text(info.Name), info.ContextWindow, "", prompt.ModelTrouble{}
	return other
}

// model returns the name of the model that answers, "" for none.
func (o *overview) model() untrusted.Text { return o.status.Model }

// planner returns the name of the model that plans in its place, "" for none.
func (o *overview) planner() untrusted.Text { return o.status.PlannerModel }

// known returns the tools as last seen, nil if they are unknown.
func (o *overview) known() plan.Catalog { return o.catalog }

// opener returns the model that the next goal asks first.
func (o *overview) opener() string {
	t, purpose := o.jobConfig(), prompt.PurposeAnalysis
	switch {
	case o.status.Planner == event.PlannerNone || o.status.Planner == event.PlannerRouter || t.prompting.SkipAnalysis && t.prompting.SkipPlan:
		purpose = prompt.PurposeChat
	case t.prompting.SkipAnalysis:
		purpose = prompt.PurposePlan
	}
	return cmp.Or(t.prompting.Models.Of(purpose).Name, t.model)
}

// weigh publishes the status if the size of the next request's opening has
// changed.
func (o *overview) weigh() {
	if o.opening() != o.status.ContextTokens {
		o.publishStatus()
	}
}

// opening estimates the tokens of the next request's prompt, tools and
// conversation. It returns 0 while the tools are unknown.
func (o *overview) opening() int {
	if o.catalog == nil {
		return 0
	}
	t := o.jobConfig()
	t.prompting.ContextWindow = o.status.ContextWindow
	return prompt.Tokens(prompt.Brief{Catalog: t.offered(o.catalog).Accepted(), Prompting: t.prompting})
}

// findBranch looks up the branch of the workspace, and whether files have uncommitted
// changes, which takes longer.
func (o *overview) findBranch(ctx context.Context) {
	if o.branch == nil || ctx.Err() != nil {
		return
	}
	o.background.run(func() func() {
		branch := untrusted.Text(o.branch())
		o.background.report(func() { o.foundBranch(branch, o.status.Dirty && branch == o.status.Branch) })
		if branch == "" || o.dirty == nil {
			return nil
		}
		dirty := o.dirty(ctx) > 0
		if ctx.Err() != nil {
			return nil
		}
		return func() { o.foundBranch(branch, dirty) }
	})
}

// foundBranch notes the branch of the workspace, and whether files have uncommitted changes.
func (o *overview) foundBranch(branch untrusted.Text, dirty bool) {
	if o.status.Branch == branch && o.status.Dirty == dirty {
		return
	}
	o.status.Branch, o.status.Dirty = branch, dirty
	o.publishStatus()
}

// jobConfig holds the settings with which a job is prepared. It copies the
// session's state, so that the preparing worker need not ask for it.
type jobConfig struct {
	model     string
	prompting prompt.Prompting   // including the conversation
	tools     []string           // patterns; nil is every tool
	wanted    map[string]int     // tokens that earlier runs had no room for, by model
	rates     map[string]float64 // bytes per token, by model
	share     int                // of the window that the conversation may take, in percent
	summed    bool               // the conversation starts with a summary
	spent     bool               // the budget of the session is used up
}

// offered filters a catalog by the tool patterns of the job.
func (t jobConfig) offered(all plan.Catalog) plan.Catalog {
	profile := prompt.Profile{Tools: t.tools}
	return slices.DeleteFunc(slices.Clone(all), func(tool plan.Tool) bool { return !profile.May(tool) })
}

// routing returns how goals are planned. If the user switched planning off, every goal is
// a chat turn.
func (t jobConfig) routing(configured event.Routing, facts intent.Facts) event.Routing {
	configured.Facts = facts
	if configured.Planner == event.PlannerAuto && t.prompting.SkipAnalysis && t.prompting.SkipPlan {
		configured.Planner = event.PlannerPhases
	}
	return configured
}

// jobConfig returns the settings of the next job.
func (o *overview) jobConfig() jobConfig {
	t := jobConfig{model: o.settings.model(), share: o.conversation.share(), summed: o.conversation.summarized(), spent: o.account.spent() != ""}
	t.prompting, t.tools = o.settings.prompting()
	if measured := o.measurements.rate(string(o.status.Model)); measured > 0 {
		t.prompting.BytesPerToken = measured
	}
	t.rates, t.wanted = o.measurements.snapshot()
	t.prompting.Conversation = o.conversation.history()
	return t
}
