package ollama

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

const shownAtOnce = 4 // models that the server is asked about at the same time

// Models lists the models that are installed, in the server's order. Of a model
// that cannot be described only its name and size are known, and that it cannot
// chat. The error is as that of [Client.Describe].
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

// listedInfo describes one model of the list, with the context window that it
// has been given before.
func (c *Client) listedInfo(ctx context.Context, entry api.ListModelResponse) prompt.ModelInfo {
	shown, err := c.api.Show(ctx, &api.ShowRequest{Model: entry.Name})
	if err != nil {
		c.log.Warn("a model cannot be described", "model", entry.Name, "error", err)
		return prompt.ModelInfo{
			Name: entry.Name, Bytes: entry.Size,
			Parameters: entry.Details.ParameterSize, Quantization: entry.Details.QuantizationLevel,
		}
	}
	info := c.info(entry, shown)
	info.ContextWindow = c.remember(info, toolless(shown)).info.ContextWindow
	return info
}

// loaded is the models in memory, by tagged name; none where the server does not
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

// serverKeepAlive is how long a server keeps a model where nobody says anything
// else; what its own environment says it does not tell.
const serverKeepAlive = 5 * time.Minute

// KeepAlive is how long a model stays loaded after a request; below 0 is for
// ever.
func (c *Client) KeepAlive() time.Duration { return cmp.Or(c.alive, serverKeepAlive) }

// Warm has the server load a model, "" being the one that will answer, with the
// context window and for the time that requests ask for. It returns when the
// model is loaded. The error is as that of [Client.Ask].
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
