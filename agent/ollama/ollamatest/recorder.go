package ollamatest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/ollama/ollama/api"

	"replan/planning/prompt"
)

// Recorder passes requests on to a real server, and records the replies of one model.
type Recorder struct {
	recording *Recording
	real      *url.URL
	url       string
	http      *http.Server
	served    chan error // receives the result of Serve, once
	chats     sync.WaitGroup
}

// Record starts a recorder on a free loopback port, in front of the server at the URL
// real. Of a reply that breaks off it records the beginning, and of one that never began
// nothing. The recorder leaves out how long
// the model took to load, so that programs do the same when the recording is played.
func Record(ctx context.Context, real *url.URL, model string) (*Recorder, error) {
	about, version, err := describe(ctx, real, model)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", model, err)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening a port for the recorder: %w", err)
	}
	r := &Recorder{
		recording: &Recording{model: about, version: version, played: make(map[string]int)},
		real:      real, url: "http://" + listener.Addr().String(), served: make(chan error, 1),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/chat", r.chat)
	mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(real) }})
	r.http = &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	go func() { r.served <- r.http.Serve(listener) }()
	return r, nil
}

// URL returns the recorder's address without a trailing slash.
func (r *Recorder) URL() string { return r.url }

// Recording returns what was recorded so far; it grows until [Recorder.Close].
func (r *Recorder) Recording() *Recording { return r.recording }

// Close stops the recorder and aborts its requests in progress.
func (r *Recorder) Close() error {
	err := r.http.Close()
	r.chats.Wait()
	if served := <-r.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("closing the recorder: %w", err)
	}
	return nil
}

// describe asks the server for what clients read about a model.
func describe(ctx context.Context, real *url.URL, name string) (m Model, version string, err error) {
	client := api.NewClient(real, http.DefaultClient)
	if version, err = client.Version(ctx); err != nil {
		return m, "", fmt.Errorf("asking for the version: %w", err)
	}
	shown, err := client.Show(ctx, &api.ShowRequest{Model: name})
	if err != nil {
		return m, "", fmt.Errorf("asking for the model: %w", err)
	}
	list, err := client.List(ctx)
	if err != nil {
		return m, "", fmt.Errorf("asking for the models: %w", err)
	}
	m = Model{Name: name, Parameters: shown.Details.ParameterSize, Quantization: shown.Details.QuantizationLevel}
	architecture, _ := shown.ModelInfo["general.architecture"].(string)
	length, _ := shown.ModelInfo[architecture+".context_length"].(float64)
	m.ContextLength = int(length)
	for _, c := range shown.Capabilities {
		m.Capabilities = append(m.Capabilities, string(c))
	}
	for _, listed := range list.Models {
		if prompt.SameModel(listed.Name, name) {
			m.Digest, m.Bytes = listed.Digest, listed.Size
		}
	}
	return m, version, nil
}

// chat passes a request on, and records its reply.
func (r *Recorder) chat(w http.ResponseWriter, in *http.Request) {
	r.chats.Add(1)
	defer r.chats.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	out, err := http.NewRequestWithContext(in.Context(), http.MethodPost, r.real.JoinPath("api/chat").String(), bytes.NewReader(body))
	if err != nil {
		writeError(w, http.StatusBadGateway, err.Error())
		return
	}
	out.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(out)
	if err != nil {
		writeError(w, http.StatusBadGateway, err.Error())
		return
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is written to it
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	reply, received := relay(w, resp)
	req := Request{Raw: body}
	req.Purpose, req.Step = purposeOf(in.Header)
	if json.Unmarshal(body, &req) == nil && received && len(req.Messages) > 0 && !req.asksNothing() {
		r.recording.add(req, reply)
	}
}

// relay passes the lines of a response on, and returns what they say, and whether they
// said anything.
func relay(w http.ResponseWriter, resp *http.Response) (reply RecordedReply, received bool) {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxBody)
	for lines.Scan() {
		raw := lines.Bytes()
		var line struct {
			api.ChatResponse
			Error string `json:"error"`
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			return reply, false
		}
		reply.take(line.ChatResponse)
		if line.Error != "" {
			reply.Error, reply.Pieces = line.Error, nil
			if resp.StatusCode != http.StatusOK {
				reply.Status = resp.StatusCode
			}
		}
		if line.Done {
			line.PromptEvalDuration, line.EvalDuration, line.LoadDuration = reply.Read, reply.Wrote, 0
			raw, _ = json.Marshal(line.ChatResponse) // it was read from JSON
		}
		received = received || line.Done || reply.Text+line.Error != ""
		if _, err := w.Write(append(bytes.Clone(raw), '\n')); err != nil {
			break // a program that has read enough reads as much again
		}
		_ = http.NewResponseController(w).Flush() // a broken connection fails the next write
	}
	return reply, received
}

// take adds what a line of the response says.
func (r *RecordedReply) take(line api.ChatResponse) {
	r.Text += line.Message.Content
	r.Thinking += line.Message.Thinking
	if line.Message.Content != "" {
		r.Pieces = append(r.Pieces, line.Message.Content)
	}
	for _, call := range line.Message.ToolCalls {
		r.Calls = append(r.Calls, Call{ID: call.ID, Name: call.Function.Name, Args: call.Function.Arguments.ToMap()})
	}
	if line.Done {
		r.DoneReason, r.PromptTokens, r.Tokens = line.DoneReason, line.PromptEvalCount, line.EvalCount
		r.Read, r.Wrote, r.Pieces = rounded(line.PromptEvalDuration), rounded(line.EvalDuration), nil
	}
}

// rounded leaves out what no reader needs of a duration.
func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
