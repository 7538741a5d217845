package connection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/builtin"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

func TestResultIsStructuredContentOrText(t *testing.T) {
	t.Parallel()
	texts := func(all ...string) *mcp.CallToolResult {
		r := &mcp.CallToolResult{Content: []mcp.Content{}}
		for _, text := range all {
			r.Content = append(r.Content, mcp.NewTextContent(text))
		}
		return r
	}
	both := mcp.NewToolResultStructured(map[string]any{"n": json.Number("12345678901234567890")}, "in words")
	list := mcp.NewToolResultStructuredOnly(map[string]any{"items": []any{true, nil}})
	for name, c := range map[string]struct {
		result *mcp.CallToolResult
		want   any
	}{
		"structured content and text": {both, map[string]any{"n": json.Number("12345678901234567890")}},
		"nested structured content":   {list, map[string]any{"items": []any{true, nil}}},
		"text":                        {texts("package main\n"), "package main\n"},
		"several texts":               {texts("a", "", "b"), "a\n\nb"},
		"empty text":                  {texts(""), ""},
		"JSON object as text":         {texts(` {"n": 1.50} `), map[string]any{"n": json.Number("1.50")}},
		"JSON array as text":          {texts("[1,", "2]"), []any{json.Number("1"), json.Number("2")}},
		"number as text":              {texts("42"), "42"},
		"quoted text":                 {texts(`"x"`), `"x"`},
		"text after JSON":             {texts(`{"a":1} and more`), `{"a":1} and more`},
		"bracket without JSON":        {texts("[main] ok"), "[main] ok"},
		"no content":                  {texts(), nil},
		"markup":                      {texts("<a & b>"), "<a & b>"},
	} {
		t.Run(name, func(t *testing.T) {
			p := inProcess(t, map[string]handler{"it": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return c.result, nil
			}})
			got, err := call(t, p, "it", nil)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

func TestArgumentsKeepDigitsAndNilBecomesObject(t *testing.T) {
	t.Parallel()
	p := inProcess(t, map[string]handler{"raw": func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("args: " + string(r.Params.RawArguments)), nil
	}})
	for want, args := range map[string]map[string]any{
		"args: {}":                           nil,
		`args: {"n":12345678901234567890.0}`: {"n": json.Number("12345678901234567890.0")},
	} {
		if got, err := call(t, p, "raw", args); err != nil || got != want {
			t.Errorf("got %v, %v; want %s", got, err, want)
		}
	}
}

func TestFailedToolReturnsToolError(t *testing.T) {
	t.Parallel()
	structured := mcp.NewToolResultStructured(map[string]any{"failed": []any{"TestX"}}, "1 test failed")
	structured.IsError = true
	silent := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: true}
	for name, c := range map[string]struct {
		h      handler
		text   string
		result any
	}{
		"text": {
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultError("no such file"), nil
			}, "no such file", nil,
		},
		"structured content": {
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return structured, nil },
			"1 test failed",
			map[string]any{"failed": []any{"TestX"}},
		},
		"no content": {
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return silent, nil },
			"the tool failed and did not say why", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := inProcess(t, map[string]handler{"it": c.h})
			_, err := call(t, p, "it", nil)
			var failure *plan.ToolError
			if !errors.As(err, &failure) {
				t.Fatalf("got %v", err)
			}
			if failure.Tool != "workspace:it" || failure.Message != c.text || !reflect.DeepEqual(failure.Result, c.result) {
				t.Errorf("got %+v", failure)
			}
		})
	}
}

func TestOnlyRefusedRequestIsToolError(t *testing.T) {
	t.Parallel()
	p := inProcess(t, map[string]handler{"it": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("look at the files")
	}})
	if _, err := call(t, p, "it", nil); err == nil || isToolError(err) || !strings.Contains(err.Error(), "look at the files") {
		t.Errorf("internal error of the server: got %v", err)
	}
	elicit := inProcess(t, map[string]handler{"it": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, mcp.URLElicitationRequiredError{}
	}})
	if _, err := call(t, elicit, "it", nil); err == nil || isToolError(err) {
		t.Errorf("error with another code: got %v", err)
	}
	it := tool(t, p, "it")
	it.Name = "that"
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: it}); !isToolError(err) {
		t.Errorf("unknown tool: got %v", err)
	}
}

func TestUnsentCallReturnsToolError(t *testing.T) {
	t.Parallel()
	p := inProcess(t, nil)
	p.Ready(t.Context())
	for name, missing := range map[string]plan.Tool{
		"no such server": {Name: "x", Server: "nobody"},
		"no such tool":   {Name: "x", Server: "workspace"},
	} {
		if _, err := p.Call(t.Context(), plan.ToolCall{Tool: missing}); !isToolError(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOutputArrivesInOrderBeforeResult(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("workspace", "1")
	const lines = 90
	s.AddTool(mcp.NewTool("talk"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range lines {
			err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": r.Params.Meta.ProgressToken, "progress": i, "total": 0, "message": fmt.Sprintln(i),
			})
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"workspace": s})})
	var want strings.Builder
	for i := range lines {
		fmt.Fprintln(&want, i)
	}
	// No lock: the listener is called from one goroutine, and never after the call.
	var got strings.Builder
	_, err := p.Call(t.Context(), plan.ToolCall{
		Tool:   tool(t, p, "talk"),
		Output: func(chunk string) { got.WriteString(chunk) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("got %q", got.String())
	}
}

func TestLastOutputIsNotLost(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("workspace", "1")
	s.AddTool(mcp.NewTool("talk"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": r.Params.Meta.ProgressToken, "progress": 0, "message": "bye",
		})
		return mcp.NewToolResultText("done"), err
	})
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"workspace": s})})
	output := tool(t, p, "talk")
	for range 300 {
		var got string
		if _, err := p.Call(t.Context(), plan.ToolCall{Tool: output, Output: func(chunk string) { got += chunk }}); err != nil {
			t.Fatal(err)
		}
		if got != "bye" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestProgressIsRequestedOnlyForListeners(t *testing.T) {
	t.Parallel()
	p := inProcess(t, map[string]handler{"it": func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(r.Params.Meta != nil && r.Params.Meta.ProgressToken != nil)), nil
	}})
	if got, err := call(t, p, "it", nil); err != nil || got != "false" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestCancelStopsBuiltInToolAndWaits(t *testing.T) {
	t.Parallel()
	called, left := make(chan struct{}), make(chan struct{})
	p := inProcess(t, map[string]handler{"wait": func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(called)
		<-ctx.Done()
		close(left)
		return mcp.NewToolResultError("stopped half-way"), nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-called
		cancel()
	}()
	_, err := p.Call(ctx, plan.ToolCall{Tool: tool(t, p, "wait")})
	if !errors.Is(err, context.Canceled) || isToolError(err) || !strings.Contains(err.Error(), "half-way") {
		t.Errorf("got %v", err)
	}
	select {
	case <-left:
	default:
		t.Error("the call returned before the tool did")
	}
}

func TestCallTimeoutEndsCall(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("workspace", "1")
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p := newPool(t, mcpclient.Config{
		CallTimeout: time.Millisecond, InProcess: existing(map[string]*server.MCPServer{"workspace": s}),
	})
	_, err := p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, "wait")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsCallsAndRefusesNewOnes(t *testing.T) {
	t.Parallel()
	called := make(chan struct{})
	p := inProcess(t, map[string]handler{"wait": func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(called)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	wait := tool(t, p, "wait")
	ended := make(chan error)
	go func() {
		_, err := p.Call(context.Background(), plan.ToolCall{Tool: wait})
		ended <- err
	}()
	<-called
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: wait}); !isToolError(err) {
		t.Errorf("call after Close: got error %v", err)
	}
	if got := p.Status()[0].State; got != plan.ServerStopped {
		t.Errorf("got server state %s", got)
	}
}

func TestBuiltInServerGetsPreviewHashesAndRun(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("workspace", "1")
	patch := mcp.NewTool("fs.patch")
	patch.Meta = mcp.NewMetaFromMap(map[string]any{builtin.MetaPreviews: true})
	s.AddTool(patch, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fields := map[string]any{}
		if r.Params.Meta != nil {
			fields = r.Params.Meta.AdditionalFields
		}
		if fields[builtin.MetaPreview] == true {
			return mcp.NewToolResultStructuredOnly(map[string]any{"diff": "-a\n+b\n", "hashes": map[string]any{"f": "00ff"}}), nil
		}
		return mcp.NewToolResultStructuredOnly(map[string]any{"approved": fields[builtin.MetaHashes], "run": fields[builtin.MetaRun]}), nil
	})
	s.AddTool(mcp.NewTool("fs.read"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(""), nil
	})
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"workspace": s})})
	preview, err := p.Preview(t.Context(), plan.ToolCall{Tool: tool(t, p, "fs.patch")})
	if err != nil {
		t.Fatal(err)
	}
	if want := (plan.ToolPreview{Diff: "-a\n+b\n", Hashes: map[string]string{"f": "00ff"}}); !reflect.DeepEqual(preview, want) {
		t.Errorf("got %+v", preview)
	}
	got, err := p.Call(t.Context(), plan.ToolCall{Tool: tool(t, p, "fs.patch"), Hashes: preview.Hashes, Run: "r-1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"approved": map[string]any{"f": "00ff"}, "run": "r-1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if _, err := p.Preview(t.Context(), plan.ToolCall{Tool: tool(t, p, "fs.read")}); err == nil {
		t.Error("got a preview from a tool without previews")
	}
}

func TestToolDescriptionComesFromServer(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	schema := `{"type":"object","anyOf":[{"required":["path"]},{"required":["diff"]}]}`
	odd := `{"type":["object","null"],"required":"path"}`
	for name, c := range map[string]struct {
		hints mcp.ToolAnnotation
		want  plan.Tool
	}{
		"no hints":                  {mcp.ToolAnnotation{}, plan.Tool{}},
		"title":                     {mcp.ToolAnnotation{Title: "x"}, plan.Tool{}},
		"read-only":                 {mcp.ToolAnnotation{ReadOnlyHint: &yes}, plan.Tool{ReadOnly: true, Annotated: true}},
		"not read-only":             {mcp.ToolAnnotation{ReadOnlyHint: &no}, plan.Tool{Annotated: true}},
		"destructive":               {mcp.ToolAnnotation{DestructiveHint: &yes}, plan.Tool{Destructive: true, Annotated: true}},
		"not destructive":           {mcp.ToolAnnotation{DestructiveHint: &no}, plan.Tool{Annotated: true}},
		"read-only and destructive": {mcp.ToolAnnotation{ReadOnlyHint: &yes, DestructiveHint: &yes}, plan.Tool{ReadOnly: true, Annotated: true}},
		"closed world":              {mcp.ToolAnnotation{OpenWorldHint: &no}, plan.Tool{Annotated: true, OpenWorld: &no}},
		"open world":                {mcp.ToolAnnotation{OpenWorldHint: &yes}, plan.Tool{Annotated: true, OpenWorld: &yes}},
	} {
		t.Run(name, func(t *testing.T) {
			s := server.NewMCPServer("x", "1", server.WithPaginationLimit(1))
			s.AddTool(mcp.Tool{
				Name: "it", Description: "\x1b[31mred\x1b[0m", RawInputSchema: json.RawMessage(schema), Annotations: c.hints,
			}, nil)
			s.AddTool(mcp.Tool{Name: "odd", RawInputSchema: json.RawMessage(odd)}, nil)
			p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"x": s})})
			all := p.Ready(t.Context())
			if len(all) != 2 || string(all[1].InputSchema) != odd {
				t.Fatalf("got tools %+v from two pages; %+v", all, p.Status())
			}
			c.want.Name, c.want.Server, c.want.Trusted = "it", "x", true
			c.want.Description = "\x1b[31mred\x1b[0m"
			got := all[0]
			if string(got.InputSchema) != schema {
				t.Errorf("got schema %s", got.InputSchema)
			}
			got.InputSchema = nil
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestOutputSchemaComesFromServerUpToABound(t *testing.T) {
	t.Parallel()
	schema := func(bytes int) json.RawMessage {
		const around = `{"type":"object","description":""}`
		return json.RawMessage(around[:len(around)-2] + strings.Repeat("x", bytes-len(around)) + `"}`)
	}
	s := server.NewMCPServer("x", "1")
	for name, output := range map[string]json.RawMessage{"most": schema(plan.MaxOutputSchema), "more": schema(plan.MaxOutputSchema + 1), "none": nil} {
		s.AddTool(mcp.Tool{Name: name, RawInputSchema: json.RawMessage(`{"type":"object"}`), RawOutputSchema: output}, nil)
	}
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"x": s})})
	for name, want := range map[string]json.RawMessage{"most": schema(plan.MaxOutputSchema), "more": nil, "none": nil} {
		if got := tool(t, p, name).OutputSchema; string(got) != string(want) {
			t.Errorf("%s: got %d bytes, want %d", name, len(got), len(want))
		}
	}
}

func TestInputSchemaComesFromServerUpToABound(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("x", "1")
	for name, size := range map[string]int{"usual": 10, "large": 1 << 20} {
		schema := `{"type":"object","properties":{"a":{"enum":["` + strings.Repeat("x", size) + `"]}}}`
		s.AddTool(mcp.Tool{Name: name, Description: "Do it.", RawInputSchema: json.RawMessage(schema)}, nil)
	}
	p := newPool(t, mcpclient.Config{InProcess: existing(map[string]*server.MCPServer{"x": s})})
	if got := tool(t, p, "usual"); len(got.InputSchema) == 0 || got.Description != "Do it." {
		t.Errorf("got %+v", got)
	}
	if got := tool(t, p, "large"); len(got.InputSchema) > 0 || got.Description != "Do it. (The schema of its arguments is left out, since it has 1024 KB.)" {
		t.Errorf("got %d bytes and %q", len(got.InputSchema), got.Description)
	}
}

func TestToolsWithInvalidNamesAreLeftOut(t *testing.T) {
	t.Parallel()
	p := inProcess(t, map[string]handler{"ok": nil, "a b": nil, "x:y": nil, "\x1b[2J": nil, "ü": nil})
	if got := p.Ready(t.Context()).Names(); !slices.Equal(got, []string{"ok"}) {
		t.Errorf("got %q", got)
	}
	s := status(t, p, "workspace")
	if s.State != plan.ServerReady || s.Tools != 1 || !strings.Contains(string(s.Note), "1 more") || strings.Contains(string(s.Note), "\x1b") {
		t.Errorf("got %+v", s)
	}
}

func TestUnusableServersAreReported(t *testing.T) {
	t.Parallel()
	p := newPool(t, mcpclient.Config{
		InProcess: existing(map[string]*server.MCPServer{"workspace": server.NewMCPServer("workspace", "1"), "a": server.NewMCPServer("a", "1")}),
		Servers: []config.Server{
			{Name: "z", Command: "true", Disabled: true},
			{Name: "workspace", Command: "true"},
			{Name: "a b", Command: "true"},
			{Name: "empty"},
			{Name: "absent", Command: "/nowhere/at/all"},
		},
	})
	p.Ready(t.Context())
	var got []string
	for _, s := range p.Status() {
		got = append(got, fmt.Sprintf("%s %s %t", s.Name, s.State, s.Error+s.Note == ""))
	}
	want := []string{
		"a ready true", "workspace ready true", "z stopped false", "workspace failed false",
		"a b failed false", "empty failed false", "absent failed false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestReservedServerNamesAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"replan", "workspace", "Workspace"} {
		p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild(name, "server", nil)}})
		if got := p.Ready(t.Context()); len(got) != 0 {
			t.Errorf("%s: got tools %v, want none", name, got.Names())
		}
		if s := status(t, p, name); s.State != plan.ServerFailed || !strings.Contains(string(s.Error), "kept for the program's own tools; choose another") {
			t.Errorf("got %+v", s)
		}
	}
}

func TestWatchReportsChangesUntilRemoved(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("x", "1")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{
		{Name: "asked", Command: "/nowhere/at/all", Source: config.SourceProject},
	}, InProcess: existing(map[string]*server.MCPServer{"x": s})})
	p.Ready(t.Context())
	calls := make(chan struct{}, 10)
	p.Watch(func() { calls <- struct{}{} })
	if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
		t.Fatal(err)
	}
	<-calls // starting
	<-calls // failed
	p.Watch(nil)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if len(calls) != 0 {
		t.Error("the watcher was called after its removal")
	}
}

func TestReadyReturnsEarlyWhenCanceled(t *testing.T) {
	t.Parallel()
	l := listen(t)
	stubborn := aChild("slow", "mute", map[string]string{"ADDR": l.Addr()})
	p := newPool(t, mcpclient.Config{Servers: []config.Server{stubborn}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := p.Ready(ctx); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := p.Status()[0].State; got != plan.ServerStarting {
		t.Errorf("got server state %s", got)
	}
}
