// The instances that are registered in the database.

class Instances {

  title = "Instances";

  constructor() {
    this.summary = h("p", {class: "summary"});
    this.table = new Table("Instances", ["Name", "Heartbeat", "Last heartbeat", "Registered for", "Keeps alive", "Id"]);
    this.element = h("div", {}, h("h1", {}, "Instances"), this.summary, this.table.element);
  }

  async load() {
    const data = await get("/instances", {});
    return {...data, now: Date.parse(data.asOf)};
  }

  show({instances, now}) {
    const late = instances.filter(instance => isOverdue(instance, now)).length;
    setText(this.summary, instances.length === 0
      ? "No instance keeps permits alive. One registers with its first grant that it keeps alive."
      : `${count(instances.length, "instance", "instances")}${late > 0 ? ` · ${numbers.format(late)} without a heartbeat` : ""}`);
    this.table.show(instances, ({id}) => id,
      () => [h("bdi", {class: "strong"}), h("span"), h("time"), h("time"), h("span"), h("span", {class: "code"})],
      ([name, state, heartbeat, started, requests, id], instance) => {
        setText(name, instance.name);
        const late = isOverdue(instance, now);
        const gone = late && Date.parse(instance.reclaimableAt) <= now;
        const idle = isIdle(instance, now);
        setText(state, gone ? "lost" : late ? overdueInWords(instance, now) : idle ? "idle" : "alive");
        setAttribute(state, "class", `state ${gone ? "late" : late ? "waiting" : idle ? "paused" : "open"}`);
        setAge(heartbeat, instance.heartbeatAt, now, " ago");
        setAge(started, instance.startedAt, now);
        setText(requests, count(instance.requests, "request", "requests"));
        setText(id, instance.id);
      });
  }
}
