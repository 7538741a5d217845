package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"charm.land/lipgloss/v2"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"

	"replan/cli/args"
	"replan/cli/doctor"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
	"replan/planning/plan"
	"replan/tui/wording"
)

func (g *group) newList() *cobra.Command {
	var resting bool
	command := &cobra.Command{
		Use:     "list",
		Short:   "List the servers of all files and their state",
		Long:    "list starts the servers that you trust, and says which answer and how many tools they offer. Of two servers with\nthe same name, that of --mcp-config wins, then your own. It exits with 1 if a server failed.",
		Example: "  replan mcp list\n  replan mcp list --no-start --output json",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.list(cmd.Context(), !resting)
		},
	}
	command.Flags().BoolVar(&resting, "no-start", false, "list the servers without starting them")
	return command
}

// listedServer is a server in the output of replan mcp list.
type listedServer struct {
	plan.ServerStatus
	Notes []string `json:"notes,omitempty"`
}

// list implements replan mcp list.
func (g *group) list(ctx context.Context, start bool) error {
	servers, err := g.app.Servers().Read(nil)
	if err != nil {
		return err
	}
	cfg, stop, err := g.pool()
	if err != nil {
		return err
	}
	defer stop()
	cfg.Servers, cfg.Later = servers, !start
	pool, err := mcpclient.NewPool(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return failed(err)
	}
	if start {
		pool.Ready(ctx)
	}
	status := pool.Status()
	err = pool.Close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return failed(err)
	}
	notes := map[string][]string{}
	for _, s := range servers {
		notes[s.Name] = s.Notes
	}
	all := []listedServer{}
	for _, s := range status {
		if !start && s.State == plan.ServerStarting {
			s.State = plan.ServerStopped
		}
		all = append(all, listedServer{s, notes[s.Name]})
	}
	if err := g.printList(all); err != nil {
		return err
	}
	if start && slices.ContainsFunc(all, func(s listedServer) bool { return s.State == plan.ServerFailed }) {
		return failed(nil)
	}
	return nil
}

// withNote adds what a server's state calls for to the notes on its entry.
func withNote(notes []string, note untrusted.Text) []string {
	if note == "" {
		return notes
	}
	return append(slices.Clone(notes), note.Line())
}

// printList prints servers: as a table for people, and as whole values for programs.
func (g *group) printList(all []listedServer) error {
	if g.app.Out().JSON() {
		for i, s := range all {
			all[i].Notes, all[i].Note = withNote(s.Notes, s.Note), "" // one field for both
		}
		return g.app.Out().PrintJSON(all)
	}
	if len(all) == 0 {
		return g.app.Out().Print("no MCP servers; add one with replan mcp add, or import those of another program with replan mcp import\n")
	}
	t := g.app.Out().Terminal()
	var rows [][]string
	var below string
	list := tty.Listing{Heads: []string{"server", "state", "tools", "from", "address"}, Wide: 4}
	for _, s := range all {
		address, tools, note := wording.ServerAddress(s.ServerStatus), "", cmp.Or(s.Error, s.Note).Line()
		if s.State == plan.ServerReady {
			tools = strconv.Itoa(s.Tools)
		}
		if t == nil {
			rows = append(rows, []string{s.Name, string(s.State), tools, s.Source, address, note})
			continue
		}
		if note != "" {
			sign := map[plan.ServerState]doctor.State{plan.ServerReady: doctor.Warning, plan.ServerStopped: doctor.Off}
			below += doctor.Sign(g.app, cmp.Or(sign[s.State], doctor.Failed)) + " " + line("%s: %s", s.Name, note)
		}
		style := map[plan.ServerState]lipgloss.Style{plan.ServerReady: t.Styles.Success, plan.ServerFailed: t.Styles.Danger}[s.State]
		list.Rows = append(list.Rows, []tty.Cell{
			{Text: s.Name, Style: t.Styles.Accent},
			{Text: string(s.State), Style: style},
			{Text: tools, Style: t.Styles.Text},
			{Text: s.Source, Style: t.Styles.Muted},
			{Text: address, Style: t.Styles.Text},
		})
	}
	for _, s := range all {
		for _, note := range s.Notes {
			g.warn(note)
		}
	}
	if t == nil {
		return g.app.Out().Print(tty.Tabs(rows))
	}
	return g.app.Out().Print(t.List(list) + below)
}

func (g *group) newTest() *cobra.Command {
	return &cobra.Command{
		Use:   "test SERVER",
		Short: "Connect to one server and show what is sent and received",
		Long: "test SERVER starts or reaches one server, lists its tools and shows each message: its direction, the time since the\n" +
			"start, its size and its text, with secrets left out. It exits with 1 if the server does not become ready.",
		Example: "  replan mcp test files\n  replan mcp test files --output json",
		Args:    args.Shell(args.One("SERVER")),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.test(cmd.Context(), args[0])
		},
	}
}

// testOutput is the output of replan mcp test.
type testOutput struct {
	secrets *redact.Secrets // of its configuration

	Server      string          `json:"server"`
	OK          bool            `json:"ok"`
	Error       untrusted.Text  `json:"error,omitempty"`
	Notes       []string        `json:"notes,omitempty"`
	LeftOut     string          `json:"left_out,omitempty"`
	Protocol    string          `json:"protocol,omitempty"` // its version
	Name        string          `json:"name,omitempty"`     // of the server, in its own words
	Version     string          `json:"version,omitempty"`
	Tools       int             `json:"tools"`
	HandshakeMS int64           `json:"handshake_ms,omitempty"` // until its first answer
	StartMS     int64           `json:"start_ms"`               // until its tools were listed
	LatencyMS   *int64          `json:"latency_ms"`             // of the last answer to tools/list; null without one
	Messages    []testedMessage `json:"messages"`
	note        untrusted.Text
	asked       map[string]time.Time
	began       time.Time
}

// testedMessage is a message in the output of replan mcp test.
type testedMessage struct {
	Sent  bool   `json:"sent"`
	MS    int64  `json:"ms"`    // since the start
	Bytes int    `json:"bytes"` // of the message, before secrets are left out
	Text  string `json:"text"`
}

// test implements replan mcp test.
func (g *group) test(ctx context.Context, name string) error {
	s, err := g.named(name)
	if err != nil {
		return err
	}
	cfg, stop, err := g.pool()
	if err != nil {
		return err
	}
	defer stop()
	result := &testOutput{secrets: secretsOf(s), Server: name, Messages: []testedMessage{}, asked: map[string]time.Time{}, began: time.Now()}
	var mu sync.Mutex
	var unprinted error
	cfg.Servers = []mcpconfig.Server{s}
	cfg.Wire = func(m mcpclient.Message) {
		mu.Lock()
		defer mu.Unlock()
		line := result.take(m)
		if !g.app.Out().JSON() && unprinted == nil {
			unprinted = g.app.Out().Print(g.wireLine(line))
		}
	}
	pool, err := mcpclient.NewPool(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return failed(err)
	}
	pool.Ready(ctx)
	status := pool.Status()
	mu.Lock()
	result.finish(status)
	mu.Unlock()
	err = pool.Close()
	mu.Lock()
	defer mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case unprinted != nil:
		return unprinted
	case err != nil:
		return failed(err)
	}
	result.Notes = s.Notes
	if err := g.printTest(result); err != nil || result.OK {
		return err
	}
	return failed(nil)
}

// serverInfo is how a server calls itself, in the field of either protocol.
type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// take records a message and what it tells.
func (t *testOutput) take(m mcpclient.Message) testedMessage {
	var of struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result struct {
			Protocol string     `json:"protocolVersion"`
			Info     serverInfo `json:"serverInfo"`
			Meta     struct {
				Info serverInfo `json:"io.modelcontextprotocol/serverInfo"`
			} `json:"_meta"`
		} `json:"result"`
		Params struct {
			Meta struct {
				Protocol string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(m.Text, &of) == nil {
		switch id := string(of.ID); {
		case m.Sent && of.Method == "tools/list":
			t.asked[id] = m.Time
			t.Protocol = cmp.Or(t.Protocol, of.Params.Meta.Protocol)
		case !m.Sent:
			t.Protocol = cmp.Or(of.Result.Protocol, t.Protocol)
			if info := cmp.Or(of.Result.Info, of.Result.Meta.Info); info.Name != "" && t.Name == "" {
				t.Name, t.Version, t.HandshakeMS = info.Name, info.Version, m.Time.Sub(t.began).Milliseconds()
			}
			if began, ok := t.asked[id]; ok {
				ms := m.Time.Sub(began).Milliseconds()
				t.LatencyMS = &ms
			}
		}
	}
	text := t.secrets.Text(string(bytes.ToValidUTF8(m.Text, []byte("\ufffd"))))
	line := testedMessage{m.Sent, m.Time.Sub(t.began).Milliseconds(), len(m.Text), text}
	t.Messages = append(t.Messages, line)
	return line
}

// finish takes the state of the server.
func (t *testOutput) finish(status []plan.ServerStatus) {
	for _, s := range status {
		t.OK, t.Error, t.note, t.Tools, t.StartMS, t.LeftOut = s.State == plan.ServerReady, s.Error, s.Note, s.Tools, s.StartMS, wording.LeftOut(s)
	}
	if !t.OK {
		t.Error, t.note = cmp.Or(t.Error, t.note), ""
	}
	if !t.OK && t.Error == "" {
		t.Error = "it did not become ready"
	}
}

// wireLine returns the line of a message, cut to the width of a terminal.
func (g *group) wireLine(m testedMessage) string {
	arrow := map[bool]string{true: "→", false: "←"}[m.Sent]
	if g.app.Appearance().ASCII {
		arrow = map[bool]string{true: ">", false: "<"}[m.Sent]
	}
	text := line("%s %6.3fs %10s  %s", arrow, float64(m.MS)/1000, wording.TextSize(m.Bytes), m.Text)
	if t := g.app.Out().Terminal(); t != nil {
		return t.Styles.Cut(text[:len(text)-1], t.Width()) + "\n"
	}
	return text
}

// printTest prints the outcome of a test.
func (g *group) printTest(t *testOutput) error {
	if g.app.Out().JSON() {
		t.Notes = withNote(t.Notes, t.note)
		return g.app.Out().PrintJSON(t)
	}
	for _, note := range t.Notes {
		g.warn(note)
	}
	if !t.OK {
		return g.app.Out().Print(doctor.Sign(g.app, doctor.Failed) + " " + line("%s is not ready: %s", t.Server, t.Error))
	}
	words := fmt.Sprintf("%s is ready after %d ms: %s", t.Server, t.StartMS, english.Count(t.Tools, "tool"))
	if t.LatencyMS != nil {
		words += fmt.Sprintf(", the list took %d ms", *t.LatencyMS)
	}
	if t.Protocol != "" {
		kind := "with a session"
		if t.Protocol >= mcpgo.ProtocolVersion20260728 { // the first without sessions
			kind = "stateless"
		}
		words += fmt.Sprintf(", protocol %s (%s), handshake %d ms", t.Protocol, kind, t.HandshakeMS)
	}
	if t.Name != "" {
		words += fmt.Sprintf("; it calls itself %s %s", t.Name, t.Version)
	}
	if t.note != "" {
		words += "; " + t.note.Line()
	}
	if t.LeftOut != "" {
		words += "; left out " + t.LeftOut
	}
	return g.app.Out().Print(doctor.Sign(g.app, doctor.OK) + " " + line("%s", words))
}
