//! The demo: a conversation that shows a tool, a question to the user, and a sub-agent.
//!
//! The script goes with the configs that are here. Whoever says `weather` sees a tool called, whoever
//! says `book` is asked before anything is done, and whoever says `research` sees a sub-agent at
//! work. A `story` takes a while.

use quixos_protocol::{AgentConfig, AgentTool, SubAgent, ToolHandler};
use serde_json::{Value, json};

use super::{Call, Line, Script, Scripted, When};

/// The model of the demo's agent.
const MODEL: &str = "demo";
/// The model of its sub-agent.
const RESEARCHER_MODEL: &str = "demo-researcher";
/// What is told to whoever wants a story.
const STORY: &str = "\
    A courier was sent across the mountains with a letter that must not be lost. At every inn she had \
    the keeper copy it, and sign the copy, before she took another step. Once her horse fell, once a \
    bridge was gone, and once she woke in a town that she did not know, with an empty bag. Each time \
    she walked back to the last inn, read the copy there, and went on from it. When she came to the \
    city, late and on foot, they asked her how a letter could come through such a winter whole. It \
    never travelled alone, she said: wherever I was, it had been there before me.";

/// Milliseconds before each word.
const PACE: u64 = 25;

impl Scripted {
    /// The sub-agent that the demo delegates to.
    pub const RESEARCHER: &'static str = "researcher";
    /// The tool of the demo that the worker runs.
    pub const WEATHER: &'static str = "weather";
    /// The tool of the demo that the client runs: a question to the user, whose result is the
    /// answer.
    pub const APPROVE: &'static str = "approve";

    /// Returns the model of the demo.
    #[must_use]
    pub fn demo() -> Self {
        let approve = json!({"question": "Shall I book it for 120 dollars?"});
        let lines = vec![
            Line {
                when: When { model: Some(RESEARCHER_MODEL.to_owned()), ..When::default() },
                think: Some("A task. I know something about this.".to_owned()),
                ..line("Three sources agree about this: {message}")
            },
            Line {
                think: Some("I do not know the weather, but a tool does.".to_owned()),
                ..calls("weather", Self::WEATHER, json!({"city": "Oslo"}))
            },
            answer(Self::WEATHER, "I looked it up: {message}"),
            Line {
                say: Some("That costs money, so I ask first.".to_owned()),
                ..calls("book", Self::APPROVE, approve)
            },
            Line {
                when: When { message: Some("yes".to_owned()), ..answered(Self::APPROVE) },
                ..line("It is booked.")
            },
            answer(Self::APPROVE, "Then I leave it."),
            Line {
                say: Some("I have somebody look into it.".to_owned()),
                ..calls("research", Self::RESEARCHER, json!({"message": "{message}"}))
            },
            answer(Self::RESEARCHER, "My researcher reports: {message}"),
            Line { when: says("story"), ..line(STORY) },
            line("Hello! Ask me for the `weather`, to `book` a trip, or to `research` something."),
        ];
        Self::new(Script { lines, pace_ms: PACE })
    }

    /// Returns the config of the demo's agent.
    #[must_use]
    pub fn demo_agent() -> AgentConfig {
        let weather = AgentTool {
            name: Self::WEATHER.to_owned(),
            description: Some("Says what the weather is in a city.".to_owned()),
            input: Some(object_of("city")),
            ..AgentTool::default()
        };
        let approve = AgentTool {
            name: Self::APPROVE.to_owned(),
            description: Some("Asks the user, who answers `yes` or `no`.".to_owned()),
            input: Some(object_of("question")),
            handler: Some(ToolHandler::Client),
            ..AgentTool::default()
        };
        let researcher = SubAgent {
            id: Self::RESEARCHER.to_owned(),
            description: Some("Looks into something and reports.".to_owned()),
        };
        AgentConfig {
            system: Some("You are the demo of this engine.".to_owned()),
            stream: Some(true),
            tools: Some(vec![weather, approve]),
            sub_agents: Some(vec![researcher]),
            ..AgentConfig::new(MODEL)
        }
    }

    /// Returns the config of the demo's sub-agent.
    #[must_use]
    pub fn demo_researcher() -> AgentConfig {
        AgentConfig { stream: Some(true), ..AgentConfig::new(RESEARCHER_MODEL) }
    }
}

fn line(say: &str) -> Line {
    Line { say: Some(say.to_owned()), ..Line::default() }
}

fn says(word: &str) -> When {
    When { says: Some(word.to_owned()), ..When::default() }
}

fn calls(word: &str, tool: &str, arguments: Value) -> Line {
    let call = vec![Call { tool: tool.to_owned(), arguments }];
    Line { when: When { offers: vec![tool.to_owned()], ..says(word) }, call, ..Line::default() }
}

fn answered(tool: &str) -> When {
    When { answered: Some(tool.to_owned()), ..When::default() }
}

fn answer(tool: &str, say: &str) -> Line {
    Line { when: answered(tool), ..line(say) }
}

fn object_of(field: &str) -> Value {
    json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]})
}
