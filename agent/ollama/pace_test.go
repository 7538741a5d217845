package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/pace"
	"replan/planning/prompt"
)

// slowMachine is a server that reads 25 and writes 10 tokens of 3 bytes a second.
var slowMachine = ollamatest.Script{
	Model:   "m",
	Cache:   &ollamatest.Cache{PerPromptToken: 40 * time.Millisecond, PerToken: 100 * time.Millisecond, BytesPerToken: 3},
	Replies: []ollamatest.Reply{{When: func(ollamatest.Request) bool { return true }, Times: -1, Text: strings.Repeat("some words to write ", 10)}},
}

// inFakeTime runs do with clients of a scripted server, in fake time.
func inFakeTime(t *testing.T, script ollamatest.Script, do func(t *testing.T, connect func() *ollama.Client)) {
	t.Helper()
	learned := filepath.Join(t.TempDir(), "learned.json")
	synctest.Test(t, func(t *testing.T) {
		closed, cancel := context.WithCancel(t.Context())
		wire := within{dialed: make(chan net.Conn), closed: closed, close: cancel}
		server := ollamatest.Serve(t.Context(), wire, script)
		do(t, func() *ollama.Client {
			client := connect(t, ollama.Config{Host: server.URL(), Learned: learned})
			client.DialWith(wire.dial)
			return client
		})
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

// long is a request of about that many tokens of 3 bytes, which begins like no other.
func long(start string, tokens int) prompt.Request {
	req := ask(start + strings.Repeat("abc", tokens))
	req.Messages = req.Messages[1:]
	return req
}

// near reports whether a figure is within a tenth of another.
func near[T int | float64 | time.Duration](got, want T) bool {
	return math.Abs(float64(got-want)) <= 0.1*float64(want)
}

func TestSecondStartKnowsTheMachine(t *testing.T) {
	inFakeTime(t, slowMachine, func(t *testing.T, connect func() *ollama.Client) {
		client := connect()
		for i, want := range []pace.Speed{{}, {Read: 25, Write: 10}, {Read: 25, Write: 10}} {
			info, err := client.Describe(t.Context(), "")
			if err != nil || !near(info.Speed.Read, want.Read) || !near(info.Speed.Write, want.Write) {
				t.Errorf("after %d replies: %v, %v; want %v", i, info.Speed, err, want)
			}
			if _, err := client.Ask(t.Context(), long(fmt.Sprint(i), 1000), nil); err != nil {
				t.Fatal(err)
			}
		}
		again := connect()
		info, err := again.Describe(t.Context(), "")
		if err != nil || !near(info.Speed.Read, 25) || !near(info.Speed.Write, 10) || !near(info.BytesPerToken, 3) {
			t.Errorf("after a restart: %+v, %v", info, err)
		}
		if all, err := again.Models(t.Context()); err != nil || all[0].Speed != info.Speed {
			t.Errorf("the list of models says %+v, %v", all, err)
		}
	})
}

func TestForecastCountsWhatTheServerRemembers(t *testing.T) {
	inFakeTime(t, slowMachine, func(t *testing.T, connect func() *ollama.Client) {
		client := connect()
		first := long("a", 1000)
		for _, req := range []prompt.Request{long("b", 300), long("c", 1000), first} {
			if _, err := client.Ask(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
		}
		more := first
		more.Messages = append(more.Messages, prompt.Message{Role: prompt.RoleAssistant, Content: slowMachine.Replies[0].Text}, prompt.Message{Role: prompt.RoleUser, Content: strings.Repeat("xyz", 500)})
		f, err := client.Forecast(t.Context(), more)
		if err != nil || !near(f.New(), 500) || !near(f.Reading(), 20*time.Second) {
			t.Errorf("%+v, %v: %d tokens to read in %s, want 500 in 20s", f, err, f.New(), f.Reading())
		}
		reply, err := client.Ask(t.Context(), more, nil)
		if err != nil || !near(reply.PromptTokens-reply.CachedTokens, f.New()) || !near(time.Duration(reply.PromptMS)*time.Millisecond, f.Reading()) || reply.WriteMS == 0 {
			t.Errorf("the reply says %+v, %v", reply, err)
		}
	})
}

func TestForecastLoadsTheModelOnlyWhenItMayBeGone(t *testing.T) {
	server := serve(t, slowMachine)
	client := connect(t, ollama.Config{Host: server.URL()})
	for range 2 {
		if _, err := client.Forecast(testContext(t), long("a", 10)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(server.Loads()); n != 1 {
		t.Errorf("the model was loaded %d times, want once", n)
	}
}

func TestRequestWithoutLimitFollowsTheMachine(t *testing.T) {
	fast := slowMachine
	fast.Cache = &ollamatest.Cache{PerPromptToken: time.Millisecond, PerToken: 10 * time.Millisecond, BytesPerToken: 3}
	for _, tc := range []struct {
		name    string
		script  ollamatest.Script
		purpose prompt.Purpose
		tokens  int
	}{
		{"minutes of reading on a slow machine", slowMachine, prompt.PurposePlan, 9000},
		{"minutes of reading before an answer", slowMachine, prompt.PurposeChat, 9000},
		{"fast machine", fast, prompt.PurposePlan, 9000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inFakeTime(t, tc.script, func(t *testing.T, connect func() *ollama.Client) {
				client := connect()
				for i, tokens := range []int{300, 1000, tc.tokens} {
					req := long(fmt.Sprint(i), tokens)
					req.Purpose = tc.purpose
					if _, err := client.Ask(t.Context(), req, nil); err != nil {
						t.Errorf("%d tokens: %v", tokens, err)
					}
				}
			})
		})
	}
}

func TestSilentModelIsGivenUpAfterThreeTimesTheExpectedTime(t *testing.T) {
	hang := slowMachine
	hang.Replies = append([]ollamatest.Reply{{When: func(r ollamatest.Request) bool { return strings.HasPrefix(r.Messages[0].Content, "hang") }, TextFor: func(ollamatest.Request) string { time.Sleep(time.Hour); return "" }}}, hang.Replies...)
	inFakeTime(t, hang, func(t *testing.T, connect func() *ollama.Client) {
		client := connect()
		for i := range 2 {
			if _, err := client.Ask(t.Context(), long(fmt.Sprint(i), 1000), nil); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		_, err := client.Ask(t.Context(), long("hang", 2000), nil)
		var late *ollama.TimeoutError
		if !errors.As(err, &late) || !near(time.Since(began), 4*time.Minute) {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		mentions(t, err, "nothing came from the model for 4m", "although it reads 25, writes 10 tokens a second here", "phase_timeout")
	})
}
