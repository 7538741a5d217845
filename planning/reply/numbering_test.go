package reply_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/reply"
)

// needing is a plan of steps without indices, with the given dependencies.
func needing(needs ...string) string {
	steps := make([]string, len(needs))
	for i, n := range needs {
		steps[i] = fmt.Sprintf(`{"title":%q,"tool":"x","depends_on":[%s]}`, string(rune('A'+i)), n)
	}
	return `{"title":"t","steps":[` + strings.Join(steps, ",") + `]}`
}

func TestDependenciesWithoutIndicesShowTheBase(t *testing.T) {
	for _, tt := range []struct {
		name, reply, want string
		streamed          []int // how many steps have come behind each step of the reply
	}{
		{"a 0 shows that they are counted from 0, also of those before it", needing("", "", "1", "0"), "1<> 2<> 3<2> 4<1>", []int{1, 2, 2, 4}},
		{"a 0 at once", needing("", "0", "1"), "1<> 2<1> 3<2>", []int{1, 2, 3}},
		{"the step's own number, counted from 0, shows that they are counted from 1", needing("", "1", "1"), "1<> 2<1> 3<1>", []int{1, 2, 3}},
		{"so it does late", needing("", "", "1", "3"), "1<> 2<> 3<1> 4<3>", []int{1, 2, 2, 4}},
		{"what nothing shows stands as it is", needing("", "", "1", "1,2"), "1<> 2<> 3<1> 4<1,2>", []int{1, 2, 2, 4}},
		{"what waits for nothing comes behind what is open", needing("", "", "1", "", "0"), "1<> 2<> 3<2> 4<> 5<1>", []int{1, 2, 2, 2, 5}},
		{"titles show nothing", needing("", `"A"`, "1", "0"), "1<> 2<1> 3<2> 4<1>", []int{1, 2, 2, 4}},
		{"titles beside numbers stay what they are", needing("", "", `"A",1`, "0"), "1<> 2<> 3<1,2> 4<1>", []int{1, 2, 2, 4}},
		{"a step that does not exist shows that they are counted from 1", needing("", "", "1", "9", "0"), "1<> 2<> 3<1> 4<9> 5<0>", []int{1, 2, 2, 4, 5}},
		{"a 0 beside a step that would come later is left to be reported", needing("", "", "1", "0,3"), "1<> 2<> 3<1> 4<0,3>", []int{1, 2, 2, 4}},
		{
			"indices show by themselves what is meant", `{"steps":[{"index":1,"title":"A","tool":"x"},{"index":2,"title":"B","tool":"x"},{"index":3,"title":"C","tool":"x","depends_on":[1]},{"index":4,"title":"D","tool":"x","depends_on":[]}]}`,
			"1<> 2<> 3<1> 4<>",
			[]int{1, 2, 3, 4},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			short := func(steps []plan.Step) string {
				var all []string
				for _, s := range steps {
					all = append(all, fmt.Sprintf("%s<%s>", s.Index, strings.Join(s.DependsOn, ",")))
				}
				return strings.Join(all, " ")
			}
			if got := short(reply.ReadSteps(tt.reply)); got != tt.want {
				t.Errorf("read as %s, want %s", got, tt.want)
			}
			var stream reply.StepStream
			var steps []plan.Step
			var came []int
			for _, part := range strings.SplitAfter(tt.reply, "},") {
				steps = append(steps, stream.Feed(part)...)
				came = append(came, len(steps))
			}
			if fmt.Sprint(came) != fmt.Sprint(tt.streamed) || short(steps) != tt.want {
				t.Errorf("streamed as %s, %v; want %s, %v", short(steps), came, tt.want, tt.streamed)
			}
		})
	}
}
