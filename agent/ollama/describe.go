package ollama

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"replan/planning"
)

const (
	defaultWindow   = 16384            // tokens, where nobody asks for more or less
	describeTimeout = 30 * time.Second // for all questions about models together
	suggestion      = "qwen3:8b"       // a model that plans well on an ordinary machine
)

// Describe says which model will answer: the configured one, else the first
// that is installed, can chat and can use tools. The server is asked until it
// has answered once; from then on the answer stands. The error wraps
// planning.ErrNoModel and says in one sentence what to do, or it wraps the
// error of ctx.
func (c *Client) Describe(ctx context.Context) (planning.ModelInfo, error) {
	if info := c.described.Load(); info != nil {
		return *info, nil
	}
	asking, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	info, err := c.choose(asking)
	if err != nil {
		if ctx.Err() != nil {
			return planning.ModelInfo{}, fmt.Errorf("asking Ollama at %s for its models: %w", c.base, ctx.Err())
		}
		return planning.ModelInfo{}, err
	}
	// Where two have asked at once the first answer stands, so that every
	// request names the same context window.
	c.described.CompareAndSwap(nil, &info)
	return *c.described.Load(), nil
}

func (c *Client) choose(ctx context.Context) (planning.ModelInfo, error) {
	if c.model == "" {
		return c.firstWithTools(ctx)
	}
	shown, err := c.api.Show(ctx, &api.ShowRequest{Model: c.model})
	if err != nil {
		if code, _ := status(err); code == http.StatusNotFound {
			return planning.ModelInfo{}, c.missing(ctx, c.model, err)
		}
		return planning.ModelInfo{}, c.undescribed(err)
	}
	if !chats(shown) {
		return planning.ModelInfo{}, noModel(nil, "the model %s cannot chat: choose another with --model", c.model)
	}
	return c.info(c.model, shown), nil
}

func (c *Client) firstWithTools(ctx context.Context) (planning.ModelInfo, error) {
	names, err := c.installed(ctx)
	if err != nil {
		return planning.ModelInfo{}, c.undescribed(err)
	}
	if len(names) == 0 {
		return planning.ModelInfo{}, noModel(nil, "Ollama at %s has no models: `ollama pull %s`", c.base, suggestion)
	}
	for _, name := range names {
		shown, err := c.api.Show(ctx, &api.ShowRequest{Model: name})
		if silent(err) || ctx.Err() != nil {
			return planning.ModelInfo{}, c.undescribed(err)
		}
		if err != nil {
			// One damaged model must not hide the others.
			c.log.Warn("a model cannot be described", "model", name, "error", err)
			continue
		}
		if chats(shown) && slices.Contains(shown.Capabilities, model.CapabilityTools) {
			return c.info(name, shown), nil
		}
	}
	return planning.ModelInfo{}, noModel(nil, "no model at %s can use tools: `ollama pull %s`, or choose one of %s with --model",
		c.base, suggestion, strings.Join(names, ", "))
}

// installed is the names of all models, in the server's order.
func (c *Client) installed(ctx context.Context) ([]string, error) {
	list, err := c.api.List(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list.Models))
	for i, m := range list.Models {
		names[i] = m.Name
	}
	return names, nil
}

// missing is the sentence for a model that is not there.
func (c *Client) missing(ctx context.Context, name string, cause error) error {
	names, err := c.installed(ctx)
	if err != nil {
		return c.undescribed(err)
	}
	if len(names) == 0 {
		return noModel(cause, "Ollama at %s has no model %s: `ollama pull %s`", c.base, name, name)
	}
	return noModel(cause, "Ollama at %s has no model %s: `ollama pull %s`, or choose one of %s with --model",
		c.base, name, name, strings.Join(names, ", "))
}

// undescribed is the sentence for a question about models that failed.
func (c *Client) undescribed(err error) error {
	if silent(err) {
		return c.unreachable(err)
	}
	if code, _ := status(err); code == http.StatusUnauthorized {
		return noModel(err, "Ollama at %s wants to know who asks: `ollama signin`", c.base)
	}
	return noModel(err, "Ollama at %s cannot say which models it has (%v): look into its log, or name another with --host", c.base, err)
}

// info is what the rest of the program needs to know of a model.
func (c *Client) info(name string, shown *api.ShowResponse) planning.ModelInfo {
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
			c.log.Warn("the model has less room than was asked for", "model", name, "wanted", wanted, "tokens", own)
		}
		wanted = own
	}
	return planning.ModelInfo{
		Name:          name,
		ContextWindow: wanted,
		Tools:         slices.Contains(shown.Capabilities, model.CapabilityTools),
		Thinks:        slices.Contains(shown.Capabilities, model.CapabilityThinking),
	}
}

// chats says whether a model can answer at all. Old servers name no
// capabilities; then the model gets the benefit of the doubt.
func chats(shown *api.ShowResponse) bool {
	return len(shown.Capabilities) == 0 || slices.Contains(shown.Capabilities, model.CapabilityCompletion)
}

// contextLength is the model's own limit in tokens, 0 where it is unknown.
func contextLength(shown *api.ShowResponse) int {
	architecture, _ := shown.ModelInfo["general.architecture"].(string)
	tokens, _ := shown.ModelInfo[architecture+".context_length"].(float64)
	return int(tokens)
}

// modelfileWindow is the num_ctx that the model was made with, 0 where it was
// made with none: whoever set it knew the machine.
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
