package ollama

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"replan/internal/untrusted"
	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

const shownAtOnce = 4 // concurrent queries about models

// Models lists the installed models in the server's order. A model that cannot be
// described has only its name and size and counts as unable to chat. Errors are
// those of [Client.Describe].
func (c *Client) Models(ctx context.Context) ([]prompt.ModelInfo, error) {
	asking, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	listed, err := c.installed(asking)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("asking Ollama at %s for its models: %w", c.base, ctx.Err())
		}
		return nil, c.undescribed(err)
	}
	loaded := c.loaded(asking)
	infos := make([]prompt.ModelInfo, len(listed))
	var group sync.WaitGroup
	places := make(chan struct{}, shownAtOnce)
	for i, entry := range listed {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			infos[i] = c.listedInfo(asking, entry)
			infos[i].Loaded = loaded[tagged(entry.Name)]
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("asking Ollama at %s for its models: %w", c.base, ctx.Err())
	}
	return infos, nil
}

// listedInfo describes one listed model, with the context window that was first
// assigned to it.
func (c *Client) listedInfo(ctx context.Context, entry api.ListModelResponse) prompt.ModelInfo {
	shown, err := c.api.Show(ctx, &api.ShowRequest{Model: entry.Name})
	if err != nil {
		c.log.Warn("a model cannot be described", "model", entry.Name, "error", err)
		return prompt.ModelInfo{
			Name: entry.Name, Bytes: entry.Size,
			Parameters: untrusted.Text(entry.Details.ParameterSize), Quantization: untrusted.Text(entry.Details.QuantizationLevel),
		}
	}
	info := c.info(entry, shown)
	info.ContextWindow = c.remember(info, toolless(shown)).info.ContextWindow
	return info
}

// loaded returns the models in memory by tagged name, none if the server does not
// say.
func (c *Client) loaded(ctx context.Context) map[string]bool {
	out := make(map[string]bool)
	running, err := c.api.ListRunning(ctx)
	if err != nil {
		c.log.Warn("the loaded models are not known", "error", err)
		return out
	}
	for _, m := range running.Models {
		out[tagged(m.Name)] = true
	}
	return out
}

// serverKeepAlive is the server's default keep-alive time. The server does not
// report a value set in its environment.
const serverKeepAlive = 5 * time.Minute

// KeepAlive returns how long a model stays loaded after a request; below 0 means
// forever.
func (c *Client) KeepAlive() time.Duration { return cmp.Or(c.alive, serverKeepAlive) }

// Warm loads a model, "" being the one that will answer, with the context window
// and keep-alive time of later requests. It returns once the model is loaded.
// Errors are those of [Client.Ask].
func (c *Client) Warm(ctx context.Context, name string) error {
	info, _, err := c.describe(ctx, name)
	if err != nil {
		return c.explain(ctx, info, err)
	}
	loaded := false
	err = c.api.Chat(ctx, c.loading(info), func(line api.ChatResponse) error {
		loaded = loaded || line.Done
		return nil
	})
	switch {
	case err != nil:
		return c.explain(ctx, info, err)
	case !loaded:
		return c.explain(ctx, info, &CutStreamError{Model: info.Name, Err: io.ErrUnexpectedEOF})
	}
	c.log.Debug("the model is loaded", "model", info.Name)
	return nil
}
