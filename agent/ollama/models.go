package ollama

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
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
	c.recollect(asking)
	running, shown := c.running(asking)
	infos := make([]prompt.ModelInfo, len(listed))
	var group sync.WaitGroup
	places := make(chan struct{}, shownAtOnce)
	for i, entry := range listed {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			infos[i] = c.listedInfo(asking, entry, running, shown)
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("asking Ollama at %s for its models: %w", c.base, ctx.Err())
	}
	return infos, nil
}

// listedInfo describes one listed model, with the context window that was first
// assigned to it or that it has grown to.
func (c *Client) listedInfo(ctx context.Context, entry api.ListModelResponse, running []api.ProcessModelResponse, server serverFacts) prompt.ModelInfo {
	_, loaded := runningModel(running, entry.Name)
	shown, err := c.api.Show(ctx, &api.ShowRequest{Model: entry.Name})
	if err != nil {
		c.log.Warn("a model cannot be described", "model", entry.Name, "error", err)
		return prompt.ModelInfo{
			Name: entry.Name, Bytes: entry.Size, Loaded: loaded,
			Parameters: untrusted.Text(entry.Details.ParameterSize), Quantization: untrusted.Text(entry.Details.QuantizationLevel),
		}
	}
	info := c.info(entry, shown)
	about := c.remember(info, shown)
	info.ContextWindow, info.Loaded, info.Defect = about.info.ContextWindow, loaded, c.defect(info.Name, about)
	info.Speed, info.BytesPerToken = about.pacing.known().Speed, about.pacing.known().BytesPerToken
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.grown[tagged(info.Name)] {
		info.Growable = about.growable(info.Longest, running, server)
	}
	return info
}

// running returns the models in memory, none if the server does not say, and what
// is known about the server.
func (c *Client) running(ctx context.Context) ([]api.ProcessModelResponse, serverFacts) {
	list, err := c.api.ListRunning(ctx)
	if err != nil {
		c.log.Warn("the loaded models are not known", "error", err)
		list = &api.ProcessResponse{}
	}
	return list.Models, c.seen(ctx, list.Models)
}

// runningModel returns the model in memory with this name.
func runningModel(running []api.ProcessModelResponse, name string) (api.ProcessModelResponse, bool) {
	at := slices.IndexFunc(running, func(m api.ProcessModelResponse) bool { return tagged(m.Name) == tagged(name) })
	if at < 0 {
		return api.ProcessModelResponse{}, false
	}
	return running[at], true
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
	info, about, err := c.describe(ctx, name)
	if err != nil {
		return c.explain(ctx, info, err)
	}
	return c.load(ctx, info, about.pacing)
}

// load makes the server load a model with its context window.
func (c *Client) load(ctx context.Context, info prompt.ModelInfo, p *pacing) error {
	loaded, took := false, time.Duration(0)
	err := c.api.Chat(ctx, c.loading(info), func(line api.ChatResponse) error {
		loaded, took = loaded || line.Done, line.LoadDuration
		return nil
	})
	switch {
	case err != nil:
		return c.explain(ctx, info, err)
	case !loaded:
		return c.explain(ctx, info, &CutStreamError{Model: info.Name, Err: io.ErrUnexpectedEOF})
	}
	p.loaded(took)
	c.log.Debug("the model is loaded", "model", info.Name, "window", info.ContextWindow)
	return nil
}
