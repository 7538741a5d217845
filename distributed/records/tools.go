package records

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// toolTables are the limits of tools, and the calls that are under way or next. The
// order of the calls of a tool is that of seq.
var toolTables = []string{
	`%sreplan_tool_limits (tool TEXT PRIMARY KEY, at_once BIGINT NOT NULL)`,
	`%sreplan_tool_calls (id TEXT PRIMARY KEY, tool TEXT NOT NULL, worker TEXT NOT NULL, seq BIGINT NOT NULL)`,
}

// ToolLimit is how many calls of a tool, or of all tools of a server, may be under way
// at once on all workers.
type ToolLimit struct {
	Tool     string // server:tool or server:*
	AtOnce   int
	UnderWay int // calls under way, or next, also of workers that died
}

// CheckTool refuses what names neither a tool of a server nor all of them.
func CheckTool(name string) error {
	server, tool, ok := strings.Cut(name, ":")
	if !ok || server == "" || tool == "" || strings.Contains(server, "*") || tool != "*" && strings.Contains(tool, "*") {
		return fmt.Errorf("--tool takes SERVER:TOOL or SERVER:*, not %q", name)
	}
	return nil
}

// toolCalls are the limits of tools and their calls.
type toolCalls struct{ db *connection }

// ToolLimits lists the limits of tools.
func (t *toolCalls) ToolLimits(ctx context.Context) (limits []ToolLimit, err error) {
	rows, err := t.db.query(ctx, `SELECT tool, at_once, (SELECT COUNT(*) FROM %sreplan_tool_calls c WHERE c.tool = l.tool)
		FROM %sreplan_tool_limits l ORDER BY tool`)
	if err != nil {
		return nil, fmt.Errorf("list the limits of tools: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l ToolLimit
		if err := rows.Scan(&l.Tool, &l.AtOnce, &l.UnderWay); err != nil {
			return nil, fmt.Errorf("list the limits of tools: %w", err)
		}
		limits = append(limits, l)
	}
	return limits, rows.Err()
}

// LimitTool sets the limit of a tool; 0 removes it.
func (t *toolCalls) LimitTool(ctx context.Context, tool string, atOnce int) error {
	query, args := `INSERT INTO %sreplan_tool_limits (tool, at_once) VALUES ($1, $2) ON CONFLICT (tool) DO UPDATE SET at_once = EXCLUDED.at_once`, []any{tool, atOnce}
	if atOnce == 0 {
		query, args = `DELETE FROM %sreplan_tool_limits WHERE tool = $1`, args[:1]
	}
	if _, err := t.db.exec(ctx, query, args...); err != nil {
		return fmt.Errorf("set the limit of %s: %w", tool, err)
	}
	return nil
}

// Enqueue puts a call of a tool behind all others. Writing the row of the limit lets one
// worker do so at a time.
func (t *toolCalls) Enqueue(ctx context.Context, id, tool, worker string) (err error) {
	tx, err := t.db.begin(ctx)
	if err != nil {
		return fmt.Errorf("queue a call of %s: %w", tool, err)
	}
	defer func() { _ = tx.Rollback() }() // of no effect after a commit
	if _, err := tx.exec(ctx, `UPDATE %sreplan_tool_limits SET at_once = at_once WHERE tool = $1`, tool); err != nil {
		return fmt.Errorf("queue a call of %s: %w", tool, err)
	}
	// After a commit whose answer was lost, the call is there.
	if _, err := tx.exec(ctx, `INSERT INTO %sreplan_tool_calls (id, tool, worker, seq)
		SELECT $1, $2, $3, COALESCE(MAX(seq), 0) + 1 FROM %sreplan_tool_calls WHERE tool = $2 ON CONFLICT (id) DO NOTHING`, id, tool, worker); err != nil {
		return fmt.Errorf("queue a call of %s: %w", tool, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("queue a call of %s: %w", tool, err)
	}
	return nil
}

// MayBegin reports whether fewer calls of living workers stand before a call than the limit of
// its tool. It also does if the tool has no limit any more. A worker that is silent for longer
// is dead. Calls of a forgotten worker, which are not queued, are never allowed to begin.
func (t *toolCalls) MayBegin(ctx context.Context, id, tool string, silenceMS int64) (may, queued bool, err error) {
	var limited, before int
	err = t.db.row(ctx, `SELECT
		(SELECT COALESCE(MAX(at_once), 0) FROM %sreplan_tool_limits WHERE tool = $2),
		(SELECT COUNT(*) FROM %sreplan_tool_calls c JOIN %sreplan_workers w ON w.id = c.worker
			WHERE c.tool = $2 AND c.seq < (SELECT seq FROM %sreplan_tool_calls WHERE id = $1) AND w.seen_ms > `+t.db.nowMS()+` - $3),
		(SELECT COUNT(*) > 0 FROM %sreplan_tool_calls WHERE id = $1)`, id, tool, silenceMS).Scan(&limited, &before, &queued)
	if err != nil {
		return false, true, fmt.Errorf("look whether a call of %s may begin: %w", tool, err)
	}
	return limited == 0 || queued && before < limited, queued, nil
}

// Dequeue removes calls that have ended.
func (t *toolCalls) Dequeue(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if _, err := t.db.exec(ctx, `DELETE FROM %sreplan_tool_calls WHERE id = $1`, id); err != nil {
			return fmt.Errorf("record the end of a call: %w", err)
		}
	}
	return nil
}

// ForgetCalls removes the calls of workers that are forgotten.
func (t *toolCalls) ForgetCalls(ctx context.Context) error {
	if _, err := t.db.exec(ctx, `DELETE FROM %sreplan_tool_calls WHERE worker NOT IN (SELECT id FROM %sreplan_workers)`); err != nil {
		return fmt.Errorf("forget the calls of workers that are gone: %w", err)
	}
	return nil
}
