package retrieval_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/retrieval"
)

// tool returns a tool of a server, trusted if it is the workspace's.
func tool(server, name, description string, arguments ...string) plan.Tool {
	var properties []string
	for _, a := range arguments {
		argument, about, _ := strings.Cut(a, ":")
		properties = append(properties, fmt.Sprintf(`%q:{"type":"string","description":%q}`, argument, about))
	}
	return plan.Tool{
		Name: name, Server: server, Description: description, Trusted: server == "workspace",
		InputSchema: []byte(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`),
	}
}

func catalog() plan.Catalog {
	return plan.Catalog{
		tool("workspace", "fs.read", "Read a text file."),
		tool("workspace", "fs.stat", "Describe one file."),
		tool("workspace", "test.run", "Run the tests of the workspace."),
		tool("workspace", "vcs.commit", "Commit changes with git.", "message: of the commit"),
		tool("hub", "createIssue", "Open a new ticket.", "assignee:who is to work on it"),
		tool("hub", "listIssues", "List tickets."),
		tool("hub", "mergePullRequest", "Merge it."),
		tool("mail", "send_message", "Send an e-mail.", "recipient:address"),
		tool("mail", "read_inbox", "Read new e-mails."),
		tool("google-calendar", "list-events", "List what is planned."),
		tool("google-calendar", "delete-event", "Cancel a meeting."),
		tool("zoo", "feed", "Feed an animal."),
	}
}

func names(matches []retrieval.Match) []string {
	list := make([]string, len(matches))
	for i, m := range matches {
		list[i] = m.Name
	}
	return list
}

func TestBestForeignToolComesFirst(t *testing.T) {
	for _, tt := range []struct {
		rule, want string
		query      retrieval.Query
	}{
		{"a word of its name", "listIssues", retrieval.Query{Goal: "list the issues"}},
		{"a word of its description", "delete-event", retrieval.Query{Goal: "cancel my meeting"}},
		{"the name of an argument", "createIssue", retrieval.Query{Goal: "make Ana the assignee"}},
		{"the words about an argument", "send_message", retrieval.Query{Goal: "which address?"}},
		{"another form of the word", "mergePullRequest", retrieval.Query{Goal: "merging requests"}},
		{"a goal in another language with a name", "createIssue", retrieval.Query{Goal: "bitte createIssue aufrufen"}},
		{"a name between letters without blanks", "listIssues", retrieval.Query{Goal: "请用listIssues查看"}},
		{"a spelled name before better words", "zoo:feed", retrieval.Query{Goal: "list issues, then `zoo:feed`"}},
		{"a name in the text for names", "feed", retrieval.Query{Goal: "list issues", Names: `{"tool":"feed"}`}},
		{"words of the context", "delete-event", retrieval.Query{Goal: "do it", Context: "a meeting is to be cancelled"}},
		{"the goal before the context", "listIssues", retrieval.Query{Goal: "issues", Context: "animal"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got := slices.DeleteFunc(retrieval.Rank(catalog(), tt.query), func(m retrieval.Match) bool { return m.Tool.Trusted })
			if _, bare, qualified := strings.Cut(tt.want, ":"); got[0].Name != tt.want && (!qualified || got[0].Name != bare) {
				t.Errorf("got the order %q, want %s first", names(got), tt.want)
			}
		})
	}
}

func TestRankOrder(t *testing.T) {
	t.Run("each part of a goal before what is like a better tool", func(t *testing.T) {
		c := plan.Catalog{
			tool("bank", "monthly_loan_payment", "Calculate the monthly payment of a loan."),
			tool("fund", "yearly_loan_payment", "Calculate the yearly payment of a loan."),
			tool("words", "change_language", "Translate a text."),
			tool("garden", "water_plants", "Water the plants."),
		}
		for goal, want := range map[string]string{
			"Calculate the monthly loan payment":                        "yearly_loan_payment",
			"Calculate the monthly loan payment, then translate a text": "change_language",
		} {
			got := retrieval.Rank(c, retrieval.Query{Goal: goal})
			if got[0].Name != "monthly_loan_payment" || got[1].Name != want || got[1].Score >= got[0].Score {
				t.Errorf("%s: got %q", goal, names(got))
			}
		}
	})
	t.Run("a server is not named by a word of other servers' tools", func(t *testing.T) {
		for other, named := range map[string]bool{"search_hotels": false, "search_towns": true} {
			c := plan.Catalog{tool("hotels", "reserve", "Reserve one."), tool("trips", other, "Search.")}
			got := retrieval.Rank(c, retrieval.Query{Goal: "Search hotels in Rome"})
			if at := slices.IndexFunc(got, func(m retrieval.Match) bool { return m.Name == "reserve" }); got[at].Named != named {
				t.Errorf("beside %s: named is %v", other, got[at].Named)
			}
		}
	})
	t.Run("words of the same meaning for one that no tool has", func(t *testing.T) {
		for other, first := range map[string]bool{"Feed an animal.": true, "Feed a singer.": false} {
			c := plan.Catalog{tool("music", "artist", ""), tool("text", "count", "Count words of a page."), tool("zoo", "feed", other)}
			got := names(retrieval.Rank(c, retrieval.Query{Goal: "the page of the singer"}))
			if (got[0] == "artist") != first {
				t.Errorf("beside %q: got %q", other, got)
			}
		}
	})
	t.Run("every tool once", func(t *testing.T) {
		got := names(retrieval.Rank(catalog(), retrieval.Query{Goal: "read the issues"}))
		if want := catalog().Names(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("no tools of one server under one name", func(t *testing.T) {
		c := append(catalog(), tool("zoo", "count", "Count animals."), tool("zoo", "count", "Count visitors."), tool("zoo", "feed", "Feed a visitor."))
		got := retrieval.Rank(c, retrieval.Query{Goal: "feed and count"})
		if len(got) != len(catalog())-1 || slices.Contains(names(got), "count") || slices.Contains(names(got), "feed") {
			t.Errorf("got %q", names(got))
		}
		for _, m := range got {
			if found, err := c.Find(m.Name); err != nil || found.QualifiedName() != m.Tool.QualifiedName() {
				t.Errorf("%s means %s, %v", m.Name, found.QualifiedName(), err)
			}
		}
	})
	t.Run("operators before foreign tools without a common word", func(t *testing.T) {
		got := names(retrieval.Rank(catalog(), retrieval.Query{Goal: "xyzzy"}))
		if want := []string{"fs.read", "test.run"}; !slices.Equal(got[:2], want) || slices.Index(got, "fs.stat") > slices.Index(got, "feed") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("operators and fitting foreign tools by turns", func(t *testing.T) {
		got := retrieval.Rank(catalog(), retrieval.Query{Goal: "commit, then read messages and events"})
		var trusted []bool
		for _, m := range got[:6] {
			trusted = append(trusted, m.Tool.Trusted)
		}
		if want := []bool{true, false, true, false, true, false}; !slices.Equal(trusted, want) {
			t.Errorf("got %q", names(got))
		}
	})
	t.Run("tools of a named server first", func(t *testing.T) {
		got := retrieval.Rank(catalog(), retrieval.Query{Goal: "What does Google Calendar say? Read the file."})
		if !got[0].Named || !got[1].Named || got[2].Named || got[0].Tool.Server != "google-calendar" || got[1].Tool.Server != "google-calendar" {
			t.Errorf("got %q", names(got))
		}
	})
	t.Run("eight tools of a named server at most", func(t *testing.T) {
		var many plan.Catalog
		for i := range 20 {
			many = append(many, tool("hub", fmt.Sprintf("t%02d", i), "x"))
		}
		got := retrieval.Rank(append(many, catalog()...), retrieval.Query{Goal: "ask hub"})
		if !got[7].Named || got[8].Named || got[8].Name != "fs.read" {
			t.Errorf("got %q", names(got)[:10])
		}
	})
	t.Run("tools of a fitting server before others", func(t *testing.T) {
		got := names(retrieval.Rank(catalog(), retrieval.Query{Goal: "cancel the meeting"}))
		if slices.Index(got, "list-events") > slices.Index(got, "feed") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("used tools before equals", func(t *testing.T) {
		for _, goal := range []string{"find", "xyzzy"} {
			for i, uses := range [][2]int{{1, 0}, {0, 1}, {5, 2}, {2, 5}} {
				two := plan.Catalog{tool("a", "find_x", "Find."), tool("b", "find_y", "Find.")}
				two[0].Uses, two[1].Uses = uses[0], uses[1]
				got, want := retrieval.Rank(two, retrieval.Query{Goal: goal})[0].Name, two[i%2].Name
				if got != want {
					t.Errorf("%s: with the uses %v %s is first", goal, uses, got)
				}
			}
		}
	})
	t.Run("the same whatever the order of the catalog", func(t *testing.T) {
		reversed := catalog()
		slices.Reverse(reversed)
		query := retrieval.Query{Goal: "read and list the new issues", Context: "events"}
		if a, b := retrieval.Rank(catalog(), query), retrieval.Rank(reversed, query); !reflect.DeepEqual(a, b) {
			t.Errorf("%q and %q", names(a), names(b))
		}
	})
	t.Run("names that two servers share are qualified", func(t *testing.T) {
		got := names(retrieval.Rank(plan.Catalog{tool("a", "find", ""), tool("b", "find", ""), tool("c", "fs.read", ""), tool("workspace", "fs.read", "")}, retrieval.Query{}))
		if want := []string{"a:find", "b:find", "c:fs.read", "fs.read"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestGoalCallsToolByWordOfItsName(t *testing.T) {
	called := func(query retrieval.Query) (list []string) {
		for _, m := range retrieval.Rank(catalog(), query) {
			if m.Called {
				list = append(list, m.Name)
			}
		}
		slices.Sort(list)
		return list
	}
	if got, want := called(retrieval.Query{Goal: "Which event comes first?"}), []string{"delete-event", "list-events"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := called(retrieval.Query{Goal: "Which animal? A new ticket.", Context: "events"}); len(got) > 0 {
		t.Errorf("words of descriptions and of the context call %q", got)
	}
}

func TestSpelledFindsNamesInAnyText(t *testing.T) {
	got := retrieval.Spelled(catalog(), "{\"tools\": [\"FEED\", 'hub:listIssues', fs.stat, flyAway, inbox]}")
	if want := []string{"feed", "fs.stat", "listIssues"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOddSchemasAreReadAsFarAsTheyGo(t *testing.T) {
	for _, schema := range []string{``, `{`, `}}}}`, `"`, `{"properties":{"ani`, `{"properties":{"a":{"description":"\u12"}}}`, `[1,[{}]]`, `null`, strings.Repeat(`{"properties":`, 5000)} {
		c := plan.Catalog{{Name: "x", Server: "s", InputSchema: []byte(schema)}, tool("s", "y", "", "animal")}
		if got := retrieval.Rank(c, retrieval.Query{Goal: "animal"}); len(got) != 2 || got[0].Name != "y" {
			t.Errorf("%.30s: got %q", schema, names(got))
		}
	}
	nested := plan.Catalog{
		tool("s", "a", ""),
		{Name: "b", Server: "s", InputSchema: []byte(`{"properties": {"filter" : {"type":"object","properties":{"habitat":{"enum":["savanna"]}}}}}`)},
	}
	for _, word := range []string{"habitat", "savanna", "filter"} {
		if got := retrieval.Rank(nested, retrieval.Query{Goal: word}); got[0].Name != "b" {
			t.Errorf("%s is not found in a nested schema", word)
		}
	}
}

// BenchmarkRank chooses among a thousand tools, and reads all of them.
func BenchmarkRank(b *testing.B) {
	var many plan.Catalog
	for i := range 1000 {
		many = append(many, tool(
			fmt.Sprintf("server%d", i%25), fmt.Sprintf("%s_%s_%d", []string{"create", "list", "update", "delete"}[i%4], []string{"issue", "event", "page", "invoice", "pod"}[i%5], i),
			"Work on one of the records of the account, with filters and a page of results at a time",
			"owner:The owner of the record", "name:The name of the record to work on", "state:Filter by state", "page:Page number for pagination", "limit:Number of results",
		))
	}
	query := retrieval.Query{Goal: "Summarise the open issues of last week and send an invoice for the hours", Context: strings.Repeat("find the pages, then create events ", 20)}
	for b.Loop() {
		retrieval.Rank(many, query)
	}
}
