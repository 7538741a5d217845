package ask

import "replan/tui/keymap"

// hunks are the actions that scroll to another part of a diff.
func hunks() keymap.Table[*Dialog] {
	return keymap.Table[*Dialog]{
		{ID: "gate.next_hunk", Keys: "]", Does: "next change of the diff", KeyOnly: true, When: severalHunks, Refuse: noHunks, Do: toHunk(1)},
		{ID: "gate.previous_hunk", Keys: "[", Does: "previous change of the diff", KeyOnly: true, When: severalHunks, Refuse: noHunks, Do: toHunk(-1)},
		{ID: "gate.next_file", Keys: "}", Does: "next file of the diff", KeyOnly: true, When: severalFiles, Refuse: noFiles, Do: toFile(1)},
		{ID: "gate.previous_file", Keys: "{", Does: "previous file of the diff", KeyOnly: true, When: severalFiles, Refuse: noFiles, Do: toFile(-1)},
	}
}

func toHunk(by int) func(*Dialog) keymap.Requests {
	return keymap.Calls(func(g *Dialog) { g.reading.toPart(g.reading.hunks(), by) })
}

func toFile(by int) func(*Dialog) keymap.Requests {
	return keymap.Calls(func(g *Dialog) { g.reading.toPart(g.reading.files(), by) })
}

func severalHunks(g *Dialog) bool { return len(g.reading.hunks()) > 1 }

func severalFiles(g *Dialog) bool { return len(g.reading.files()) > 1 }

// noHunks returns why there is no other change to scroll to.
func noHunks(g *Dialog) string {
	if severalHunks(g) {
		return ""
	}
	return "No diff of several parts is in view."
}

// noFiles returns why there is no other file to scroll to.
func noFiles(g *Dialog) string {
	if severalFiles(g) {
		return ""
	}
	return "No diff of several files is in view."
}
