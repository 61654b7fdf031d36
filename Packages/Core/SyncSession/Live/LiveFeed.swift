public import TomboloChangesets
public import TomboloModel
internal import TomboloSyncProtocol

/// The live side of a gateway. It matches each new tick once against everything that its members look at, and says
/// which members the tick concerns and what to send them. Members with the same predicates share one evaluation.
/// Members that see the same part of a tick share one encoding. Members that a tick doesn't concern aren't mentioned.
/// No I/O, no clock.
///
/// A `Member` is one stay of a session: a session that leaves and returns is a new member.
public struct LiveFeed<Member: Hashable & Sendable>: Sendable {
    /// The maximum cost of matching a member on its own, in comparisons and bytes searched; see
    /// ``TomboloSyncProtocol/Visibility/matchingCost(changeCount:byteCount:)``. Anything more expensive is matched
    /// aside, so that it doesn't delay others.
    public static var maximumMatchingCost: Int { 1_000_000 }
    /// The maximum cost for all devices of one user together, counting only predicates that no index narrows.
    public static var maximumMatchingCostOfUser: Int { 200_000 }
    /// The maximum number of missed ticks that may concern a member. Beyond it, the member reads the changelog, which
    /// has all of them in one batch.
    public static var maximumMissedTickCount: Int { 256 }

    /// The answer to ``follow(_:)``.
    public enum Answer: Sendable {
        /// The batches for the ticks after the requested one, oldest first, without ticks that don't concern the
        /// member. From the newest tick on, the member is told of each tick that concerns it.
        case following([LiveBatch], newest: Tick)
        /// Matching these ticks takes long. Match them aside with ``LiveFeed/match(_:with:client:schema:)``, then ask
        /// again from the last one. The member isn't followed.
        case matchAside([LiveTick])
        /// The feed doesn't reach back far enough, or too many ticks may concern the member. Read the changelog, then
        /// ask again. The member isn't followed.
        case gone
    }

    /// The member that wants to be told, what it looks at, and from which tick.
    public struct Request: Sendable {
        public let member: Member
        public let view: LiveView
        public let client: ClientID
        public let user: String
        /// The number of the device's current tick.
        public let after: Int64

        public init(member: Member, view: LiveView, client: ClientID, user: String, after: Int64) {
            self.member = member
            self.view = view
            self.client = client
            self.user = user
            self.after = after
        }
    }

    /// The effects of a new tick on the members.
    public struct Announcement: Sendable {
        public let tick: Tick
        /// Members and the batch to send them. Members with the same frames are listed together.
        public var batches: [(members: [Member], batch: LiveBatch)] = []
        /// Answers for members that were ahead of the feed when they asked.
        public var answers: [(member: Member, answer: Answer)] = []
        /// Members for which matching the tick would take too long. They keep their previous position, leave the feed, and
        /// have to ask again.
        public var aside: [Member] = []
        /// The number of candidates that the indexes found for the tick's rows, before and after each change.
        public var candidateCount = 0
    }

    private struct Group {
        let view: LiveView
        /// The number of the group's ``Form``.
        let form: Int
        var members: Set<Member> = []
        /// By class position, the number of the group's predicate in that class's index.
        var predicates: [Int: Int] = [:]
        /// Whether any of the group's predicates isn't narrowed by an index.
        var isUnindexed = false
    }

    /// Everything that determines the bytes sent for a visible change.
    private struct Form: Hashable {
        let columns: [Int: [Int]]
        let mask: ColumnMask
        let names: DeviceNames

        init(_ view: LiveView) { (columns, mask, names) = (view.columns, view.mask, view.names) }
    }

    /// What a group sees of a tick.
    private struct Seen: Hashable {
        let form: Int
        var changes: [SeenChange] = []
    }

    private struct SeenChange: Hashable {
        /// The position among the tick's changes.
        let index: Int
        let had: Bool
        let has: Bool
    }

    private struct Membership {
        let group: Int
        let client: ClientID
        let user: String
    }

    /// The predicates that members have on one class.
    private struct ClassWatch {
        var index: PredicateIndex
        var numbers: [Predicate: Int] = [:]
        /// The groups that use each predicate, by predicate number.
        var groups: [Int: Set<Int>] = [:]
        /// The numbers of the predicates that no index narrows.
        var unindexed: Set<Int> = []
    }

    private let schema: Schema
    /// The most recent ticks.
    public private(set) var ring: TickRing
    /// The newest tick; ``TomboloChangesets/Tick/origin`` before the first.
    public private(set) var newest = Tick.origin
    private var memberships: [Member: Membership] = [:]
    /// Members whose tick is newer than the feed's.
    private var ahead: [Member: Request] = [:]
    private var membersOfClient: [ClientID: Set<Member>] = [:]
    private var membersOfUser: [String: Set<Member>] = [:]
    private var groups: [Int: Group] = [:]
    private var numbers: [LiveView: Int] = [:]
    private var unindexedGroups: Set<Int> = []
    private var classes: [Int: ClassWatch] = [:]
    /// For each form, its number and the number of groups that use it.
    private var forms: [Form: (number: Int, groupCount: Int)] = [:]
    private var nextForm = 0
    private var nextGroup = 0
    private var nextPredicate = 0

    public init(schema: Schema, bounds: TickRing.Bounds) {
        self.schema = schema
        ring = TickRing(bounds: bounds)
    }

    public var memberCount: Int { memberships.count + ahead.count }
    /// The number of different views among all members.
    public var viewCount: Int { groups.count }

    /// All members.
    public var members: [Member] { Array(memberships.keys) + Array(ahead.keys) }

    /// The members that belong to the given users.
    public func members(of users: Set<String>) -> [Member] {
        users.flatMap { membersOfUser[$0] ?? [] } + ahead.filter { users.contains($0.value.user) }.map(\.key)
    }

    // MARK: Members

    /// Starts telling a member about the ticks that concern it. A member that is already followed starts again.
    /// - Returns: nil for a member that is ahead of the feed. Its answer comes later in ``Announcement/answers``.
    public mutating func follow(_ request: Request) -> Answer? {
        leave(request.member)
        // The next tick's difference starts at the feed's newest tick, not at the member's.
        guard request.after <= newest.number else {
            ahead[request.member] = request
            return nil
        }
        return answer(request)
    }

    private mutating func answer(_ request: Request) -> Answer {
        var batches: [LiveBatch] = []
        if request.after < newest.number {
            let missed = ring.ticks(
                after: request.after, thatMayConcern: request.view, request.client, in: schema,
                limit: Self.maximumMissedTickCount)
            guard let ticks = missed else { return .gone }
            guard Self.cost(of: ticks, with: request.view.visibility) <= Self.maximumMatchingCost else {
                return .matchAside(Self.firstPart(of: ticks, with: request.view.visibility))
            }
            batches = Self.match(ticks, with: request.view, client: request.client, schema: schema)
        }
        enter(request)
        return .following(batches, newest: newest)
    }

    /// Stops telling a member about ticks.
    public mutating func leave(_ member: Member) {
        ahead[member] = nil
        guard let membership = memberships.removeValue(forKey: member) else { return }
        membersOfClient.remove(member, of: membership.client)
        membersOfUser.remove(member, of: membership.user)
        groups[membership.group]?.members.remove(member)
        if groups[membership.group]?.members.isEmpty == true { removeGroup(membership.group) }
    }

    private mutating func enter(_ request: Request) {
        let number = numbers[request.view] ?? addGroup(request.view)
        groups[number]?.members.insert(request.member)
        memberships[request.member] = Membership(group: number, client: request.client, user: request.user)
        membersOfClient[request.client, default: []].insert(request.member)
        membersOfUser[request.user, default: []].insert(request.member)
    }

    private mutating func addGroup(_ view: LiveView) -> Int {
        let number = nextGroup
        nextGroup += 1
        var group = Group(view: view, form: enterForm(of: view))
        for (classIndex, predicate) in view.visibility.predicates {
            let canonical = predicate.canonical
            var watch = classes[classIndex] ?? ClassWatch(index: PredicateIndex(of: schema[classIndex]))
            // Moved out of the dictionary, so that the reference is unique and a change copies nothing.
            classes[classIndex] = nil
            let id: Int
            if let known = watch.numbers[canonical] {
                id = known
            } else {
                id = nextPredicate
                nextPredicate += 1
                // Predicates with NaN aren't entered: they equal nothing, so they'd never be found again.
                if canonical == canonical { watch.numbers[canonical] = id }
                watch.index.insert(canonical, id: id)
                if watch.index.unindexed.last?.id == id { watch.unindexed.insert(id) }
            }
            watch.groups[id, default: []].insert(number)
            group.predicates[classIndex] = id
            if watch.unindexed.contains(id) { group.isUnindexed = true }
            classes[classIndex] = watch
        }
        if group.isUnindexed { unindexedGroups.insert(number) }
        groups[number] = group
        if view == view { numbers[view] = number }
        return number
    }

    private mutating func enterForm(of view: LiveView) -> Int {
        let form = Form(view)
        if let known = forms[form]?.number {
            forms[form]?.groupCount += 1
            return known
        }
        nextForm += 1
        forms[form] = (nextForm, 1)
        return nextForm
    }

    private mutating func leaveForm(of view: LiveView) {
        let form = Form(view)
        forms[form]?.groupCount -= 1
        if forms[form]?.groupCount == 0 { forms[form] = nil }
    }

    private mutating func removeGroup(_ number: Int) {
        guard let group = groups.removeValue(forKey: number) else { return }
        leaveForm(of: group.view)
        numbers[group.view] = nil
        unindexedGroups.remove(number)
        for (classIndex, id) in group.predicates {
            guard var watch = classes.removeValue(forKey: classIndex) else { continue }
            watch.groups.remove(number, of: id)
            if watch.groups[id] == nil {
                watch.index.remove(id: id)
                watch.unindexed.remove(id)
                if let predicate = group.view.visibility.predicates[classIndex] {
                    watch.numbers[predicate.canonical] = nil
                }
            }
            if !watch.groups.isEmpty { classes[classIndex] = watch }
        }
    }

    // MARK: Ticks

    /// Restarts at a tick whose difference from the previous one is unknown or too large to keep.
    /// - Returns: everyone who was followed. They're still at the previous tick, and read the changelog from there.
    public mutating func restart(at tick: Tick) -> [Member] {
        let members = members
        memberships = [:]
        ahead = [:]
        membersOfClient = [:]
        membersOfUser = [:]
        groups = [:]
        numbers = [:]
        unindexedGroups = []
        classes = [:]
        forms = [:]
        ring.clear()
        newest = tick
        return members
    }

    /// Matches the next tick.
    /// - Returns: nil if the tick is too large to keep. ``restart(at:)`` must follow.
    public mutating func advance(_ live: LiveTick) -> Announcement? {
        guard ring.append(live) else { return nil }
        newest = live.tick
        var announcement = Announcement(tick: live.tick)
        setAside(live, &announcement)
        var progress: [Member: ClientProgress] = [:]
        for (client, news) in live.progress {
            for member in membersOfClient[client] ?? [] { progress[member] = news }
        }
        let matched = match(live)
        announcement.candidateCount = matched.candidateCount
        for (numbers, frames) in matched.parts {
            let members = numbers.flatMap { groups[$0].map { Array($0.members) } ?? [] }
            var others: [Member] = []
            others.reserveCapacity(members.count)
            for member in members {
                if let news = progress.removeValue(forKey: member) {
                    announcement.batches.append(
                        ([member], LiveBatch(live, frames, news)))
                } else {
                    others.append(member)
                }
            }
            guard !others.isEmpty else { continue }
            announcement.batches.append((others, LiveBatch(live, frames, nil)))
        }
        for (member, news) in progress {
            announcement.batches.append(([member], LiveBatch(live, nil, news)))
        }
        for (member, request) in ahead where request.after <= live.tick.number {
            ahead[member] = nil
            announcement.answers.append((member, answer(request)))
        }
        return announcement
    }

    /// Stops following members whose predicates no index narrows and that cost too much on this tick.
    private mutating func setAside(_ live: LiveTick, _ announcement: inout Announcement) {
        guard !unindexedGroups.isEmpty, !live.difference.changes.isEmpty else { return }
        var costs: [String: Int] = [:]
        let (changeCount, byteCount) = (live.difference.changes.count, live.difference.byteCount)
        for number in unindexedGroups.sorted() {
            guard let group = groups[number] else { continue }
            let cost = group.view.visibility.matchingCost(changeCount: changeCount, byteCount: byteCount)
            var isTooMuch = cost > Self.maximumMatchingCost
            let users = Set(group.members.compactMap { memberships[$0]?.user })
            // A view shared by several users is charged to none of them.
            if users.count == 1, let user = users.first, !isTooMuch {
                let sum = costs[user, default: 0] + cost
                isTooMuch = sum > Self.maximumMatchingCostOfUser
                if !isTooMuch { costs[user] = sum }
            }
            guard isTooMuch else { continue }
            announcement.aside += group.members
            for member in group.members { leave(member) }
        }
    }

    /// The frames for every group that a tick concerns. Groups that are sent the same frames are listed together.
    private func match(
        _ live: LiveTick
    ) -> (parts: [(groups: [Int], frames: SharedFrames)], candidateCount: Int) {
        var candidateCount = 0
        var seen: [Int: Seen] = [:]
        var order: [Int] = []
        // Consecutive changes usually have the same class.
        var (classIndex, known): (Int?, ClassWatch?) = (nil, nil)
        var sights: [Int: (had: Bool, has: Bool)] = [:]
        for (index, change) in live.difference.changes.enumerated() {
            if change.reference.classIndex != classIndex {
                classIndex = change.reference.classIndex
                known = classes[change.reference.classIndex]
            }
            guard let watch = known else { continue }
            sights.removeAll(keepingCapacity: true)
            if let old = change.old {
                candidateCount += watch.index.forEachMatch(of: old) { sights[$0] = (true, false) }
            }
            if let new = change.new {
                candidateCount += watch.index.forEachMatch(of: new) { sights[$0, default: (false, false)].has = true }
            }
            for (id, sight) in sights {
                for number in watch.groups[id] ?? [] {
                    if seen[number] == nil {
                        guard let form = groups[number]?.form else { continue }
                        seen[number] = Seen(form: form)
                        order.append(number)
                    }
                    seen[number]?.changes.append(SeenChange(index: index, had: sight.had, has: sight.has))
                }
            }
        }
        var together: [Seen: [Int]] = [:]
        var parts: [Seen] = []
        for number in order {
            guard let part = seen.removeValue(forKey: number) else { continue }
            if together[part] == nil { parts.append(part) }
            together[part, default: []].append(number)
        }
        let batches = parts.compactMap { part -> (groups: [Int], frames: SharedFrames)? in
            guard let numbers = together[part], let view = numbers.first.flatMap({ groups[$0]?.view }) else {
                return nil
            }
            var builder = FrameBuilder(schema: schema, view)
            for change in part.changes {
                builder.add(live.difference.changes[change.index], had: change.had, has: change.has)
            }
            return SharedFrames(builder, view, schema).map { (numbers, $0) }
        }
        return (batches, candidateCount)
    }

    // MARK: One member

    /// Matches ticks for one view. Returns a batch for each tick that concerns it, oldest first.
    public static func match(
        _ ticks: [LiveTick], with view: LiveView, client: ClientID, schema: Schema
    ) -> [LiveBatch] {
        guard !ticks.isEmpty else { return [] }
        let visibility = RowVisibility(view.visibility, in: schema)
        return ticks.compactMap { live in
            var builder = FrameBuilder(schema: schema, view)
            for change in live.difference.changes { builder.add(change, old: visibility, new: visibility) }
            let frames = SharedFrames(builder, view, schema)
            let progress = live.progress[client]
            guard frames != nil || progress != nil else { return nil }
            return LiveBatch(live, frames, progress)
        }
    }

    private static func cost(of ticks: [LiveTick], with visibility: Visibility) -> Int {
        visibility.matchingCost(
            changeCount: ticks.reduce(0) { $0 + $1.difference.changes.count },
            byteCount: ticks.reduce(0) { $0 + $1.difference.byteCount })
    }

    /// The first ticks whose matching stays within the maximum cost, but at least one.
    private static func firstPart(of ticks: [LiveTick], with visibility: Visibility) -> [LiveTick] {
        var end = 1
        while end < ticks.count, cost(of: Array(ticks[...end]), with: visibility) <= maximumMatchingCost { end += 1 }
        return Array(ticks[..<end])
    }
}

extension LiveBatch {
    fileprivate init(_ live: LiveTick, _ frames: SharedFrames?, _ progress: ClientProgress?) {
        self.init(tick: live.tick, frames: frames, progress: progress, traceparents: live.traceparents)
    }
}

extension FrameBuilder {
    fileprivate init(schema: Schema, _ view: LiveView) {
        self.init(schema: schema, deviceColumns: view.columns, hidden: view.mask.hidden)
    }
}

extension SharedFrames {
    /// Returns nil if there is nothing to send.
    fileprivate init?(_ builder: FrameBuilder, _ view: LiveView, _ schema: Schema) {
        let codec = MessageCodec(schema: schema, names: view.names)
        var messages: [[UInt8]] = []
        var oversized: Set<String> = []
        for (sequence, frame) in builder.frames().enumerated() {
            var frame = frame
            frame.sequence = sequence
            let message = codec.encode(.frame(view.mask.apply(to: frame, schema: schema)))
            if message.count > MessageCodec.maximumMessageByteCount {
                oversized.formUnion(frame.blocks.map { schema[$0.classIndex].name })
            }
            messages.append(message)
        }
        guard !messages.isEmpty else { return nil }
        self.init(messages: messages, oversized: oversized.isEmpty ? nil : oversized)
    }
}

extension Dictionary {
    /// Removes an element from a key's set, and the key when its set becomes empty.
    fileprivate mutating func remove<Element: Hashable>(_ element: Element, of key: Key) where Value == Set<Element> {
        self[key]?.remove(element)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
