internal import TomboloChangesets
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// What the feed tells the session.
extension SessionRunner {
    func follow(_ number: Int, _ after: Int64, _ view: LiveView) {
        guard let feed = seat?.generation.feed, let authority else { return }
        // Ticks after a change of what the user may do are only matched once the session knows what the user may see
        // since then.
        let authorityTick = mayFollowUnchecked ? nil : authority.tick
        mayFollowUnchecked = false
        feed.send(
            .follow(
                LiveFeed.Request(
                    member: FeedMember(session: self, number: number), view: view, client: session.clientID,
                    user: authority.user, after: after), authorityTick: authorityTick))
    }

    func take(_ answer: LiveFeed<FeedMember>.Answer, _ number: Int, _ position: FeedPosition) {
        switch answer {
        case .following(let batches, let newest):
            self.position = position
            handle(.following(number, batches, newest: newest))
        case .gone: handle(.ticksGone(number))
        case .matchAside(let ticks): matchAside(ticks, number)
        }
    }

    func take(_ content: LiveContent, _ number: Int) {
        if let position { session.reach(position.tick) }
        for action in session.handle(.live(number, content.batch)) { perform(action, sharing: content) }
        settle()
    }

    func followingEnded(_ number: Int) { handle(.followingEnded(number)) }

    /// Expensive matching takes turns, and stays off the event loops and the feed. It gets only a share of the time:
    /// ticks that arrive meanwhile are matched together.
    private func matchAside(_ ticks: [LiveTick], _ number: Int) {
        guard let peer, let schema = seat?.generation.store.schema, let last = ticks.last?.tick else {
            return
        }
        let (client, view) = (session.clientID, session.liveView)
        Task {
            // Throws only if the task is cancelled, which never happens.
            let batches = try? await services.pace.run(peer.user) { [heavyWork = services.heavyWork] in
                let matched = try? await heavyWork.run(peer, progress: { .independent }) {
                    let began = ContinuousClock.now
                    let batches = LiveFeed<FeedMember>.match(ticks, with: view, client: client, schema: schema)
                    return (batches, took: began.duration(to: .now))
                }
                return (matched?.0 ?? [], took: matched?.took ?? .zero)
            }
            handle(.matched(number, batches ?? [], last: last))
        }
    }
}
