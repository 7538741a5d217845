package check_test

import (
	"testing"
	"time"

	"replan/cli/check"
	"replan/mcpclient"
	mcpconfig "replan/mcpclient/config"
)

func TestCommandsWaitAsLongAsServersMayTakeToStart(t *testing.T) {
	pool, err := mcpclient.NewPool(t.Context(), mcpclient.Config{Later: true, Servers: []mcpconfig.Server{
		{Name: "slow", Command: "x", StartTimeout: 5 * time.Minute}, {Name: "usual", Command: "x"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if all, usual := check.ToolsWithin(pool, nil), check.ToolsWithin(pool, []string{"usual"}); all <= 5*time.Minute || usual != 2*time.Minute {
		t.Errorf("waits %s for all and %s for the usual one", all, usual)
	}
}

func TestVariablesAreMergedIntoPlan(t *testing.T) {
	const plan = `{"title":"t","variables":{"a":1,"b":2},"steps":[]}`
	for name, c := range map[string]struct {
		plan string
		vars []string
		want string // "" means the unchanged plan
	}{
		"no variables":                            {plan, nil, ""},
		"JSON keeps type and digits":              {plan, []string{`a={"x":[12345678901234567890]}`}, `{"steps":[],"title":"t","variables":{"a":{"x":[12345678901234567890]},"b":2}}`},
		"not JSON":                                {plan, []string{"a=x y=z"}, `{"steps":[],"title":"t","variables":{"a":"x y=z","b":2}}`},
		"empty value":                             {plan, []string{"a="}, `{"steps":[],"title":"t","variables":{"a":"","b":2}}`},
		"last of the same name wins":              {plan, []string{"a=1", "a=true"}, `{"steps":[],"title":"t","variables":{"a":true,"b":2}}`},
		"plan without variables":                  {`{"title":"t"}`, []string{"a=null"}, `{"title":"t","variables":{"a":null}}`},
		"invalid plan is unchanged":               {`{"title":`, []string{"a=1"}, ""},
		"variables of a wrong type are unchanged": {`{"variables":[1]}`, []string{"a=1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.plan
			}
			got, err := check.Variables(c.vars).Into([]byte(c.plan))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	for _, bad := range []string{"a", "=1", " =1", ""} {
		if _, err := (check.Variables{bad}).Into([]byte(plan)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
