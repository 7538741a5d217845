package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"replan/internal/untrusted"
	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

const (
	defaultWindow   = 16384            // tokens, if neither user nor model sets one
	describeTimeout = 30 * time.Second // for all queries about models together
	suggestion      = "qwen3:8b"       // a model that plans well on an ordinary machine
)

// Describe describes the model with the given name; "" is the model that will
// answer. That is the configured one, else the first installed one that can chat
// and use tools.
//
// The first answer of the server stands until the model is pulled or removed. So its context window does not change unless it grows, see
// [Client.Grow]. Only [Client.Models] says whether a model is loaded. The error wraps prompt.ErrNoModel and says in one sentence what to
// do, or it wraps the error of ctx.
func (c *Client) Describe(ctx context.Context, name string) (prompt.ModelInfo, error) {
	info, _, err := c.describe(ctx, name)
	return info, err
}

func (c *Client) describe(ctx context.Context, name string) (prompt.ModelInfo, *known, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		name = c.model
	}
	about := c.recall(name)
	if about == nil {
		asking, cancel := context.WithTimeout(ctx, describeTimeout)
		defer cancel()
		c.recollect(asking)
		var err error
		if about, err = c.choose(asking, name); err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("asking Ollama at %s for its models: %w", c.base, ctx.Err())
			}
			return prompt.ModelInfo{}, nil, err
		}
	}
	info := about.described()
	if name != "" {
		info.Name = name // with or without its tag, as the caller spelled it
	}
	info.Defect, info.Speed, info.BytesPerToken = c.defect(info.Name, about), about.paced().known().Speed, about.paced().known().BytesPerToken
	info.WritesCalls = about.writes()
	if !info.Chats {
		return prompt.ModelInfo{}, nil, c.because(noModel(nil, "the model %s cannot chat: choose another (--model, or /model in the chat)", name), prompt.TroubleUnfit, name, nil)
	}
	return info, about, nil
}

func (c *Client) choose(ctx context.Context, name string) (*known, error) {
	if name == "" {
		return c.firstWithTools(ctx)
	}
	shown, err := c.api.Show(ctx, &api.ShowRequest{Model: name})
	if err != nil {
		if missingModel(err) {
			return nil, c.missing(ctx, name, err)
		}
		return nil, c.undescribed(err)
	}
	listed, err := c.installed(ctx)
	if err != nil {
		c.log.Warn("the size of a model is not known", "model", name, "error", err)
	}
	entry := api.ListModelResponse{Name: name}
	for _, m := range listed {
		if tagged(m.Name) == tagged(name) {
			entry.Size, entry.Digest = m.Size, m.Digest
		}
	}
	return c.remember(c.info(entry, shown), shown), nil
}

func (c *Client) firstWithTools(ctx context.Context) (*known, error) {
	listed, err := c.installed(ctx)
	if err != nil {
		return nil, c.undescribed(err)
	}
	if len(listed) == 0 {
		return nil, c.because(noModel(nil, "Ollama at %s has no models: `ollama pull %s`", c.base, c.suggested()), prompt.TroubleNoModels, "", nil)
	}
	for _, entry := range listed {
		shown, err := c.api.Show(ctx, &api.ShowRequest{Model: entry.Name})
		if silent(err) || ctx.Err() != nil {
			return nil, c.undescribed(err)
		}
		if err != nil {
			// One damaged model must not hide the others.
			c.log.Warn("a model cannot be described", "model", entry.Name, "error", err)
			continue
		}
		if info := c.info(entry, shown); info.Chats && info.Tools {
			return c.prefer(c.remember(info, shown)), nil
		}
	}
	return nil, c.because(noModel(nil, "no model at %s can use tools: `ollama pull %s`, or choose one of %s (--model, or /model in the chat)",
		c.base, c.suggested(), names(listed)), prompt.TroubleUnfit, "", listed)
}

// prefer stores which model answers if none is named. Of concurrent calls the
// first wins.
func (c *Client) prefer(about *known) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.known[tagged(c.chosen)]
	if first == nil { // none chosen yet, or removed meanwhile
		c.chosen, first = about.described().Name, about
	}
	return first
}

// installed returns all models, the newest first as the server lists them. The server
// shuffles models of the same time; by name their order is always the same.
func (c *Client) installed(ctx context.Context) ([]api.ListModelResponse, error) {
	list, err := c.api.List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Models, func(a, b api.ListModelResponse) int {
		return cmp.Or(b.ModifiedAt.Compare(a.ModifiedAt), strings.Compare(a.Name, b.Name))
	})
	return list.Models, nil
}

func names(listed []api.ListModelResponse) string {
	out := make([]string, len(listed))
	for i, m := range listed {
		out[i] = m.Name
	}
	return strings.Join(out, ", ")
}

// missing returns the error for a model that is not installed.
func (c *Client) missing(ctx context.Context, name string, cause error) error {
	listed, err := c.installed(ctx)
	if err != nil {
		return c.undescribed(err)
	}
	if len(listed) == 0 {
		return c.because(noModel(cause, "Ollama at %s has no model %s: `ollama pull %s`", c.base, name, name), prompt.TroubleNoModels, name, nil)
	}
	return c.because(noModel(cause, "Ollama at %s has no model %s: `ollama pull %s`, or choose one of %s (--model, or /model in the chat)",
		c.base, name, name, names(listed)), prompt.TroubleMissing, name, listed)
}

// undescribed returns the error for a failed query about models.
func (c *Client) undescribed(err error) error {
	if silent(err) {
		return c.unreachable(err)
	}
	switch code, _ := status(err); code {
	case http.StatusUnauthorized:
		return noModel(err, "Ollama at %s needs you to sign in: `ollama signin`", c.base)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return noModel(err, "the server at %s lists no models: it is not Ollama or too old; update it, or choose another with --host", c.base)
	}
	return noModel(err, "Ollama at %s cannot list its models (%v): check its log, or choose another with --host", c.base, err)
}

// info extracts what the rest of the program needs to know about a model.
func (c *Client) info(entry api.ListModelResponse, shown *api.ShowResponse) prompt.ModelInfo {
	own := contextLength(shown)
	wanted := c.window
	if wanted == 0 {
		wanted = modelfileWindow(shown)
	}
	if wanted == 0 {
		wanted = defaultWindow
	}
	if own > 0 && wanted > own {
		if c.window > own {
			c.log.Warn("the model has a smaller context than requested", "model", entry.Name, "wanted", wanted, "tokens", own)
		}
		wanted = own
	}
	return c.findings.drive(c.base.String(), prompt.ModelInfo{
		Name:          entry.Name,
		ContextWindow: wanted,
		Longest:       own,
		Tools:         slices.Contains(shown.Capabilities, model.CapabilityTools),
		Thinks:        slices.Contains(shown.Capabilities, model.CapabilityThinking),
		Vision:        slices.Contains(shown.Capabilities, model.CapabilityVision),
		Chats:         chats(shown),
		Digest:        entry.Digest,
		Bytes:         entry.Size,
		Parameters:    untrusted.Text(shown.Details.ParameterSize),
		Small:         small(shown),
		Remote:        shown.RemoteHost != "" || c.base.Hostname() == "ollama.com",
		Quantization:  untrusted.Text(shown.Details.QuantizationLevel),
		Weights:       weights(shown),
	})
}

// small reports whether a model is known to have fewer than 4 billion parameters.
func small(shown *api.ShowResponse) bool {
	count, _ := shown.ModelInfo["general.parameter_count"].(float64)
	if count == 0 {
		return SmallBy(untrusted.Text(shown.Details.ParameterSize))
	}
	return count < 4e9
}

// SmallBy reports the same by the number of parameters as a server says it, such as
// 494.03M or 8.2B.
func SmallBy(parameters untrusted.Text) bool {
	size, count := strings.ToUpper(strings.TrimSpace(string(parameters))), 0.0
	for unit, times := range map[string]float64{"K": 1e3, "M": 1e6, "B": 1e9} {
		if number, ok := strings.CutSuffix(size, unit); ok {
			n, _ := strconv.ParseFloat(number, 64)
			count = n * times
		}
	}
	return count > 0 && count < 4e9
}

// toolless reports whether a model is known to reject tools. An old server lists
// no capabilities and reveals it only on request.
func toolless(shown *api.ShowResponse) bool {
	return len(shown.Capabilities) > 0 && !slices.Contains(shown.Capabilities, model.CapabilityTools)
}

// chats reports whether a model can chat. Old servers list no capabilities; then
// the model gets the benefit of the doubt.
func chats(shown *api.ShowResponse) bool {
	return len(shown.Capabilities) == 0 || slices.Contains(shown.Capabilities, model.CapabilityCompletion)
}

// contextLength returns the model's own limit in tokens, 0 if unknown.
func contextLength(shown *api.ShowResponse) int {
	architecture, _ := shown.ModelInfo["general.architecture"].(string)
	tokens, _ := shown.ModelInfo[architecture+".context_length"].(float64)
	return int(tokens)
}

// modelfileWindow returns the num_ctx of the model's Modelfile, 0 if unset.
// Whoever set it knew the machine.
func modelfileWindow(shown *api.ShowResponse) int {
	for line := range strings.Lines(shown.Parameters) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "num_ctx" {
			if tokens, err := strconv.Atoi(fields[1]); err == nil && tokens > 0 {
				return tokens
			}
		}
	}
	return 0
}

// remember stores the first description of a model. Of concurrent calls the first
// wins.
func (c *Client) remember(info prompt.ModelInfo, shown *api.ShowResponse) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := tagged(info.Name)
	if c.known[key] == nil {
		c.known[key] = newKnown(info, shown, c.window > 0, c.server)
	}
	return c.known[key]
}

// recall returns what is known about a model, "" being the one that answers, or
// nil if the server has not been asked yet.
func (c *Client) recall(name string) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name == "" {
		name = c.chosen
	}
	return c.known[tagged(name)]
}

// tagged returns the key of a model in Client.known. Servers ignore case.
func tagged(name string) string { return prompt.TaggedName(strings.ToLower(name)) }

// because attaches the kind of problem to a noModelError.
func (c *Client) because(err error, kind prompt.TroubleKind, model string, there []api.ListModelResponse) error {
	if e, ok := errors.AsType[*noModelError](err); ok {
		e.trouble = prompt.ModelTrouble{Kind: kind, Host: untrusted.Text(c.base.String()), Model: untrusted.Text(model)}
		switch kind {
		case prompt.TroubleNoModels, prompt.TroubleMissing:
			e.trouble.Pull = cmp.Or(e.trouble.Model, untrusted.Text(c.suggested()))
		case prompt.TroubleUnfit:
			e.trouble.Pull = untrusted.Text(c.suggested())
		case prompt.TroubleUnreachable, prompt.TroubleOther:
		}
		for _, m := range there {
			e.trouble.Models = append(e.trouble.Models, untrusted.Text(m.Name))
		}
	}
	return err
}

// unreachable returns the error for a server that does not answer at all.
func (c *Client) unreachable(err error) error {
	if refusedToDial(err) {
		err = c.because(noModel(err, "Ollama does not answer at %s: %s, or choose another with --host", c.base, c.start()), prompt.TroubleUnreachable, "", nil)
		if e, ok := errors.AsType[*noModelError](err); ok {
			e.trouble.Start = c.startable()
		}
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return c.because(noModel(err, "Ollama at %s accepts connections but does not answer: restart it with `ollama serve`, or choose another with --host", c.base), prompt.TroubleUnreachable, "", nil)
	}
	return c.because(noModel(err, "the server at %s does not behave like Ollama (%v): start `ollama serve` there, or choose another with --host", c.base, reason(err)), prompt.TroubleUnreachable, "", nil)
}
