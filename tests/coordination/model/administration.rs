//! The administrator's tools in the model.

use serde_json::{Value, json};

use super::rules::{Answer, MAX, Model, find, show, text, time};

impl Model {
    pub fn administer(&mut self, tool: &str, given: &Value) -> Answer {
        let (agent, project) = (text(given, "agent"), text(given, "project"));
        let pair = (project.to_owned(), agent.to_owned());
        let open = self.open(agent, project);
        match tool {
            "admin_agent_set_status" => {
                let agent = self.agents.iter_mut().find(|agent| agent["id"] == given["id"]).unwrap();
                agent["status"] = given["status"].clone();
                Ok(json!({"success": true, "agent": show(agent)}))
            }
            "admin_project_set_status" => {
                let project = self.projects.iter_mut().find(|project| project["id"] == given["id"]).unwrap();
                (project["status"], project["updated_at"]) = (given["status"].clone(), time(self.now));
                Ok(json!({"success": true, "project": project}))
            }
            "admin_assign" => {
                let changed = self.members.insert(pair);
                Ok(json!({"success": true, "project_id": project, "agent_id": agent, "changed": changed}))
            }
            "admin_unassign" => self.unassign(pair),
            "admin_session_list" => Ok(self.alive()),
            "admin_session_revoke" => {
                open.into_iter().for_each(|open| self.end(open, "revoked"));
                Ok(json!({"success": true, "agent_id": agent, "project_id": project, "revoked": open.is_some()}))
            }
            unknown => panic!("the model does not know {unknown}"),
        }
    }

    fn alive(&self) -> Value {
        let shown = self.sessions.iter().filter(|session| self.is_alive(session)).map(|it| {
            json!({"id": it.id, "agent_id": it.agent, "project_id": it.project, "instance_id": it.instance,
                "task_id": it.task, "created_at": time(it.created), "last_seen_at": time(it.seen),
                "expires_at": time(it.expires), "max_expires_at": time(it.created + MAX), "began_at": it.began.map(time),
                "ended_at": null, "end_reason": null})
        });
        json!({"success": true, "sessions": shown.collect::<Vec<_>>()})
    }

    fn unassign(&mut self, pair: (String, String)) -> Answer {
        let (project, agent) = &pair;
        if self.runs(agent, project) {
            let what = "Wait for its report, or revoke its session first.";
            return Err(format!("Agent {agent} is running in project {project}. {what}"));
        }
        if let Some(open) = self.open(agent, project) {
            self.end(open, "expired");
        }
        let its = self.list_tasks(&json!({"project_id": project, "assignee_id": agent}))?;
        let is_open = |task: &&Value| task["status"] != "done" && task["status"] != "cancelled";
        let released: Vec<_> = its["tasks"].as_array().unwrap().iter().filter(is_open).map(|it| &it["id"]).collect();
        for task in &released {
            self.assign(find(&self.tasks, "Task", task.as_str().unwrap())?, &Value::Null)?;
        }
        let changed = self.members.remove(&pair);
        Ok(json!({"success": true, "project_id": pair.0, "agent_id": pair.1, "changed": changed,
            "released_tasks": released}))
    }
}
