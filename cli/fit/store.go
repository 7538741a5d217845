package fit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"replan/internal/wholefile"
	"replan/planning/fit"
)

// Found reads the file of findings. One that does not exist is empty.
func Found(path string) (fit.Table, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the program's own file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was found of models: %w", err)
	}
	table, err := fit.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("read %s; delete it to start over: %w", path, err)
	}
	return table, nil
}

// Store adds findings to the file. A damaged file is replaced, since it can be measured
// again.
func Store(ctx context.Context, path string, found ...fit.Finding) error {
	err := wholefile.Edit(ctx, path, func(before []byte) ([]byte, error) {
		table, _ := fit.Decode(before)
		for _, f := range found {
			table = table.With(f)
		}
		return table.Encode()
	})
	if err != nil {
		return fmt.Errorf("keep what was found; choose another folder with --data-dir: %w", err)
	}
	return nil
}

// Export returns what was measured here as a file that others can load. The error says
// what to do if nothing was.
func Export(path string) ([]byte, error) {
	table, err := Found(path)
	if err != nil {
		return nil, err
	}
	var measured fit.Table
	for _, f := range table {
		if f.Source == fit.SourceMeasured && f.Weights != "" {
			measured = append(measured, f.Exported())
		}
	}
	if len(measured) == 0 {
		return nil, errors.New("nothing was measured here that others could use: run replan fit first")
	}
	return measured.Encode() //nolint:wrapcheck // it says what was written
}

// Load adds the findings of an exported file, and returns how many it has. They hold for
// the same weights, unless these are measured here.
func Load(ctx context.Context, path string, exported []byte) (int, error) {
	table, err := fit.Decode(exported)
	if err != nil {
		return 0, err //nolint:wrapcheck // it says what is wrong
	}
	for i, f := range table {
		if f.Weights == "" {
			return 0, fmt.Errorf("finding %d names no weights of a model: it was not made by replan fit --export", i+1)
		}
		table[i] = f.Exported()
		table[i].Source = fit.SourceLoaded
	}
	return len(table), Store(ctx, path, table...)
}
