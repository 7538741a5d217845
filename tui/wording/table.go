package wording

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"replan/planning/plan"
)

// Table is a list of objects with the same members, a row each.
type Table struct {
	Names   []string // of the columns; none for a plain listing
	Rows    [][]string
	Numbers []bool // which columns hold only numbers
}

// mostTable is the size of a text, in bytes, above which it is not read as a table: that takes too long for one frame.
const mostTable = 256 << 10

// leading lists the members that tell objects apart, which come first in a table.
var leading = []string{"id", "path", "file", "name", "key", "title", "hash", "line"}

// TableOf returns a list of objects with the same members, at least two, as a table. Objects may lack some, but not more than
// they have in common. The table has no rows if the list is something else.
func TableOf(list []any) Table {
	if len(list) == 0 {
		return Table{}
	}
	seen := map[string]int{}
	items := make([]map[string]any, len(list))
	for i, v := range list {
		item, ok := v.(map[string]any)
		if !ok || len(item) == 0 {
			return Table{}
		}
		items[i] = item
		for name := range item {
			seen[name]++
		}
	}
	common := 0
	for _, n := range seen {
		if n == len(items) {
			common++
		}
	}
	if len(seen) < 2 || len(seen)-common > common {
		return Table{}
	}
	if listing := entriesOf(items); len(listing.Rows) > 0 {
		return listing
	}
	t := Table{Names: columnsOf(items, seen)}
	for _, name := range t.Names {
		numbers := true
		for _, item := range items {
			switch item[name].(type) {
			case nil, json.Number, float64, int, int64:
			default:
				numbers = false
			}
		}
		t.Numbers = append(t.Numbers, numbers)
	}
	for _, item := range items {
		row := make([]string, len(t.Names))
		for i, name := range t.Names {
			row[i] = cellText(item[name])
		}
		t.Rows = append(t.Rows, row)
	}
	for i, name := range t.Names {
		t.Names[i] = cellText(name)
	}
	return t
}

// columnsOf orders the members of objects: those that tell them apart, the others by name, long texts last.
func columnsOf(items []map[string]any, seen map[string]int) []string {
	const long = 40 // of a cell, in bytes
	rank := map[string]int{}
	for name := range seen {
		rank[name] = slices.Index(leading, name)
		if rank[name] >= 0 {
			continue
		}
		rank[name] = len(leading)
		for _, item := range items {
			if len(cellText(item[name])) > long {
				rank[name] = len(leading) + 1
				break
			}
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank[a], rank[b]) })
	return names
}

// entriesOf returns the entries of a folder as a plain listing: folders end with a slash, files have their size.
func entriesOf(items []map[string]any) Table {
	t := Table{Numbers: []bool{false, true}}
	for _, item := range items {
		name, named := item["path"].(string)
		kind, typed := item["type"].(string)
		size, sized := whole(item["size"])
		if !named || !typed || len(item) > 3 || len(item) == 3 && !sized {
			return Table{}
		}
		row := []string{cellText(name), ""}
		switch {
		case kind == "dir" && !strings.HasSuffix(name, "/"):
			row[0] += "/"
		case kind != "dir" && kind != "file":
			row[1] = cellText(kind)
		case kind == "file":
			row[1] = TextSize(int(size))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// separatedTable reads separated values whose first row has the names of the columns. The table has no rows if they are not that.
func separatedTable(text string, separator rune) Table {
	if len(text) > mostTable {
		return Table{}
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = separator
	all, err := r.ReadAll()
	if err != nil || len(all) < 2 || len(all[0]) < 2 {
		return Table{}
	}
	t := Table{Numbers: slices.Repeat([]bool{true}, len(all[0]))}
	for i, row := range all {
		for column, cell := range row {
			row[column] = cellText(cell)
			_, err := plan.DecodeValue([]byte(cell))
			isNumber := err == nil && strings.Trim(cell, "-+.0123456789eE") == ""
			t.Numbers[column] = t.Numbers[column] && (i == 0 || cell == "" || isNumber)
		}
	}
	t.Names, t.Rows = all[0], all[1:]
	return t
}

// jsonList returns the list that a text is in JSON, nil if it is something else.
func jsonList(text string) any {
	if len(text) > mostTable || !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return nil
	}
	value, err := plan.DecodeValue([]byte(text))
	if list, ok := value.([]any); ok && err == nil && len(list) > 0 {
		return list
	}
	return nil
}
