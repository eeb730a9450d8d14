// mbarrier: counts, phases and transactions by the ISA's "mbarrier" chapter.
// One thread does it all, or, where a form names .shared::cluster, the thread
// of CTA 0 (the actor) what concerns the form and the one of CTA 1 (the owner
// of the mbarrier) the rest. What they see goes to `out`, word after word.

#include "test/Unit/ptxsim_forms/Machine.h"

using namespace ptxsim::forms;

namespace {

class Script {
public:
  explicit Script(const std::string &space) : space(space) {}
  bool remote() const { return space == ".shared::cluster"; }
  /// The mbarrier as the actor names it.
  std::string there() const {
    return space.empty() ? "[%d5]" : remote() ? "[%r2]" : "[%r1]";
  }
  Script &owner(const std::string &text) { return step(text, 1); }
  Script &actor(const std::string &text) { return step(text, 0); }
  /// The owner looks whether the phase of this parity is over.
  Script &look(unsigned parity, bool expected) {
    owner("mbarrier.test_wait.parity.shared.b64 %p1, [%r1], " +
          std::to_string(parity) + ";\n" + note("%p1"));
    return expect(expected);
  }
  /// Stores a predicate or a register.
  std::string note(const std::string &what) {
    const std::string at = std::to_string(4 * notes++);
    return (what[1] == 'p' ? "selp.b32 %r9, 1, 0, " + what
                           : "mov.b32 %r9, " + what) +
           ";\nst.global.b32 [%d0+" + at + "], %r9;\n";
  }
  Script &expect(uint32_t value) {
    expected.push_back(value);
    return *this;
  }
  void run() {
    Setup setup;
    setup.threads = 1;
    setup.cluster = remote() ? 2 : 1;
    setup.out.resize(expected.size());
    EXPECT_EQ(launch(R"(
  mov.u32 %r10, %cluster_ctarank;
  cvt.u64.u32 %d5, %r1;
  cvta.shared.u64 %d5, %d5;
)" + std::string(remote() ? "mapa.shared::cluster.u32 %r2, %r1, 1;\n" : "") +
                         body + (remote() ? meet() : ""),
                     setup)
                  .out,
              expected);
  }

private:
  Script &step(const std::string &text, unsigned rank) {
    if (!remote()) {
      body += text;
      return *this;
    }
    const std::string label = "S" + std::to_string(steps++);
    body += "setp.ne.u32 %p6, %r10, " + std::to_string(rank) + ";\n@%p6 bra " +
            label + ";\n" + text + label + ":\n" + meet();
    return *this;
  }
  std::string space, body;
  unsigned steps = 0, notes = 0;
  Words expected;
};

std::string init(unsigned count) {
  return "mbarrier.init.shared.b64 [%r1], " + std::to_string(count) + ";\n";
}
const char *arrive = "mbarrier.arrive.shared.b64 _, [%r1];\n",
           *complete = "mbarrier.complete_tx.shared::cta.b64 [%r1], 16;\n",
           *pending = "mbarrier.pending_count.b64 %r8, %d6;\n";

/// arrive and arrive_drop, of one and of three of five.
void arrives(const std::string &name, const std::string &space, bool drops) {
  Script s(space);
  const std::string first = s.remote() ? name + " _, " : name + " %d6, ",
                    second = s.remote() ? name + " _, " : name + " %d7, ";
  s.owner(init(5));
  s.actor(first + s.there() + ";\n");
  if (!s.remote()) // the state before the arrival
    s.owner(pending + s.note("%r8")).expect(5);
  s.actor(second + s.there() + ", 3;\n");
  if (!s.remote())
    s.owner("mbarrier.pending_count.b64 %r8, %d7;\n" + s.note("%r8") +
            "mbarrier.test_wait.shared.b64 %p1, [%r1], %d7;\n" + s.note("%p1"))
        .expect(4)
        .expect(0);
  s.look(0, false).owner(arrive).look(0, true).look(1, false);
  if (!s.remote())
    s.owner("mbarrier.test_wait.shared.b64 %p1, [%r1], %d6;\n" + s.note("%p1"))
        .expect(1);
  // What was dropped is not expected in the next phase.
  s.owner(arrive).look(1, drops);
  if (!drops)
    for (unsigned i = 1; i < 5; ++i)
      s.owner(arrive).look(1, i == 4);
  s.run();
}

/// .expect_tx: 48 bytes hold the phase open, one arrival of two is made.
void expects(const std::string &name, const std::string &space, bool drops) {
  Script s(space);
  s.owner(init(2));
  s.actor(name + (s.remote() ? " _, " : " %d6, ") + s.there() + ", 48;\n");
  if (!s.remote())
    s.owner(pending + s.note("%r8")).expect(2);
  s.owner(arrive).look(0, false).owner(complete).owner(complete);
  s.look(0, false).owner(complete).look(0, true);
  s.owner(arrive).look(1, drops);
  if (!drops)
    s.owner(arrive).look(1, true);
  s.run();
}

/// .noComplete: three of five arrive.
void arrivesOpen(const std::string &name, const std::string &space,
                 bool drops) {
  Script s(space);
  s.owner(init(5));
  s.actor(name + " %d6, " + s.there() + ", 3;\n");
  s.owner(pending + s.note("%r8")).expect(5);
  s.owner(arrive).look(0, false).owner(arrive).look(0, true);
  s.owner(arrive).owner(arrive).look(1, drops);
  if (!drops)
    s.owner("mbarrier.arrive.shared.b64 _, [%r1], 3;\n").look(1, true);
  s.run();
}

void expectsOnly(const std::string &name, const std::string &space) {
  Script s(space);
  s.owner(init(1)).actor(name + " " + s.there() + ", 32;\n");
  s.owner(arrive).look(0, false).owner(complete).look(0, false);
  s.owner(complete).look(0, true).owner(arrive).look(1, true);
  s.run();
}

void completes(const std::string &name, const std::string &space) {
  Script s(space);
  s.owner(init(1) +
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 48;\n");
  s.look(0, false).actor(name + " " + s.there() + ", 16;\n").look(0, false);
  s.actor(name + " " + s.there() + ", 32;\n").look(0, true).look(1, false);
  s.run();
}

/// test_wait and try_wait by state: the phase of %d6 before and after its end.
void waits(const std::string &name, const std::string &space) {
  Script s(space);
  const std::string wait = name + " %p2, " + s.there() + ", %d6";
  s.owner(init(2) + "mbarrier.arrive.shared.b64 %d6, [%r1];\n");
  s.actor("setp.eq.u32 %p2, %r10, %r10;\n" + wait + ";\n" + s.note("%p2"));
  s.expect(0).owner(arrive).actor(wait + ";\n" + s.note("%p2")).expect(1);
  if (name.find("try_wait") != name.npos)
    s.actor("setp.ne.u32 %p2, %r10, %r10;\n" + wait + ", 1000;\n" +
            s.note("%p2"))
        .expect(1);
  s.run();
}

/// By parity: that of the phase before, and of the current one.
void waitsParity(const std::string &name, const std::string &space) {
  Script s(space);
  const std::string wait = name + " %p2, " + s.there() + ", ",
                    last = name.find("try_wait") != name.npos ? ", 1000;\n"
                                                              : ";\n";
  s.owner(init(1) + "mov.b32 %r12, 1;\n");
  for (unsigned phase = 0; phase < 3; ++phase) {
    const std::string now = std::to_string(phase % 2),
                      before = std::to_string(1 - phase % 2);
    s.actor("setp.eq.u32 %p2, %r10, %r10;\n" + wait + now + ";\n" +
            s.note("%p2"))
        .expect(0);
    s.actor("setp.ne.u32 %p2, %r10, %r10;\n" + wait + before + last +
            s.note("%p2"))
        .expect(1);
    s.owner(arrive);
  }
  s.actor("setp.eq.u32 %p2, %r10, %r10;\n" + wait + "%r12;\n" + s.note("%p2"));
  s.expect(0).run();
}

const std::vector<std::string> local = {"", ".shared", ".shared::cta"},
                               everywhere = {"", ".shared", ".shared::cta",
                                             ".shared::cluster"};

} // namespace

FORMS(mbarrier) {
  for (const std::string &space : local) {
    const std::string end = space + ".b64";
    form("mbarrier.init" + end, [=] {
      Script s(space);
      s.actor("mbarrier.init" + end + " " + s.there() + ", 3;\n");
      s.owner(arrive).owner(arrive).look(0, false).owner(arrive);
      s.look(0, true).owner(arrive).owner(arrive).look(1, false).owner(arrive);
      s.look(1, true).run();
    });
    // Afterwards the bytes are free, for an mbarrier too.
    form("mbarrier.inval" + end, [=] {
      Script s(space);
      s.owner(init(7)).actor("mbarrier.inval" + end + " " + s.there() + ";\n");
      s.owner("mov.b32 %r8, 77;\nst.shared.b32 [%r1], %r8;\n"
              "ld.shared.b32 %r8, [%r1];\n" +
              s.note("%r8"))
          .expect(77);
      s.owner(init(1)).owner(arrive).look(0, true).run();
    });
    for (bool drops : {false, true}) {
      const std::string name = std::string("mbarrier.arrive") +
                               (drops ? "_drop" : "") + ".noComplete" + end;
      form(name, [=] { arrivesOpen(name, space, drops); });
    }
    for (const char *kind : {"test_wait", "try_wait"})
      for (const char *sem : {"", ".acquire.cta", ".acquire.cluster",
                              ".relaxed.cta", ".relaxed.cluster"}) {
        const std::string base = std::string("mbarrier.") + kind;
        form(base + sem + end, [=] { waits(base + sem + end, space); });
        form(base + ".parity" + sem + end,
             [=] { waitsParity(base + ".parity" + sem + end, space); });
      }
  }
  for (const std::string &space : everywhere) {
    const std::string end = space + ".b64";
    for (const char *sem : {"", ".release.cta", ".release.cluster",
                            ".relaxed.cta", ".relaxed.cluster"})
      for (bool drops : {false, true}) {
        const std::string base =
            std::string("mbarrier.arrive") + (drops ? "_drop" : "");
        form(base + sem + end,
             [=] { arrives(base + sem + end, space, drops); });
        const std::string name = base + ".expect_tx" + sem + end;
        form(name, [=] { expects(name, space, drops); });
      }
    for (const char *sem : {"", ".relaxed.cta", ".relaxed.cluster"}) {
      form(std::string("mbarrier.expect_tx") + sem + end, [=] {
        expectsOnly(std::string("mbarrier.expect_tx") + sem + end, space);
      });
      form(std::string("mbarrier.complete_tx") + sem + end, [=] {
        completes(std::string("mbarrier.complete_tx") + sem + end, space);
      });
    }
  }
  form("mbarrier.pending_count.b64", [] {
    Script s(".shared");
    s.owner(init(1048575));
    for (uint32_t count : {1048575, 1048574})
      s.actor("mbarrier.arrive.shared.b64 %d6, [%r1];\n" +
              std::string(pending) + s.note("%r8"))
          .expect(count);
    s.actor("mbarrier.arrive.shared.b64 %d6, [%r1], 1048000;\n" +
            std::string(pending) + s.note("%r8"))
        .expect(1048573);
    s.actor("mbarrier.arrive.shared.b64 %d6, [%r1];\n" + std::string(pending) +
            s.note("%r8"))
        .expect(573);
    s.run();
  });
}
