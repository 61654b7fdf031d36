internal import TomboloChangesets
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// What the session hears from its feed.
extension SessionRunner {
    func follow(_ number: Int, _ after: Int64, _ view: LiveView) {
        guard let feed = seat?.generation.feed, let authority else { return }
        // What came after a change of what the user may do is matched with what they may see since.
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

    /// Matching that costs much takes turns, and leaves the event loops and the feed alone. It takes a share of the time: what
    /// comes meanwhile is matched together.
    private func matchAside(_ ticks: [LiveTick], _ number: Int) {
        guard let peer, let schema = seat?.generation.store.schema, let last = ticks.last?.tick else {
            return
        }
        let (client, view) = (session.clientID, session.liveView)
        Task {
            // Throws only when the task is cancelled, which nobody does.
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
