public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// One device's connection, on the gateway's side: event in, actions out. No I/O, no clock.
///
/// Phases and what leaves them:
/// - `waiting` for hello → `authenticating`; anything else fails the session.
/// - `authenticating` → `opening`, or failed.
/// - `opening` → `verifying` when the server has changesets under the client's name whose outcome the device has not
///   seen; else `live` where only ticks separate the device from the present, which the feed may still know; else
///   `reading`, or reset, or failed. A first batch always comes, empty if need be.
/// - `verifying` → `reading` when the device has shown each of them to be its own; else reset: a copy of its file sent
///   them.
/// - `reading` a batch → `live`, or `reading` again (subscriptions changed meanwhile, the batch was refused as too old,
///   or the executor had to give the read up).
/// - `live` → `reading` when subscriptions change or the feed no longer has the ticks that are missing.
/// - `closed`: nothing leaves it.
///
/// While `live`, and with nothing under way, a session can move to other classes: ``hold()``, ``move(to:_:)``.
///
/// Every phase that waits for the device has an end, counted in heartbeats: ``maximumOpeningHeartbeats``,
/// ``maximumSilentHeartbeats`` while verifying, ``maximumUnappliedHeartbeats`` while live. While reading, the executor
/// watches whether the device takes what it is sent.
///
/// A session is one sequence of batches: while one is read, no other is sent. Live, it follows the feed, which tells it of
/// the ticks that concern it and of no others. Nothing is queued for a device that reads slowly: a session that can't take a
/// batch stops following, stands on the tick before, and asks for what it missed once it can. ``reach(_:)`` moves it past
/// ticks that don't concern it.
///
/// A changeset is acknowledged only on a connection that carried it, so that of two copies of one file neither takes
/// the other's changesets for its own. Where a tick's progress is ahead of the upload under way, the tick waits for the
/// upload's answer.
public struct ServerSession: Sendable {
    public enum Event: Sendable {
        case message(ClientMessage)
        case authenticated(SessionAuthority)
        case failed(SessionFailure)
        /// - Parameter formerly: what the user could read, by class position, under the rules fingerprint of the device's
        ///   position, where that is another one than now; nil if nobody knows.
        case opened(ClientOpening, PositionCheck, formerly: [Int: Predicate]? = nil)
        /// The read under way is complete, and its frames are on their way; the tick that it was made at.
        case readFinished(BatchEnd, Tick)
        /// The read under way was given up, its device takes nothing: the batch begins again with frame 0, and with
        /// what the session knows by now.
        case readGivenUp
        case uploaded([UploadResult])
        /// An answer to ``Action/follow(_:after:_:)``, with its number: the batches of ticks that concern the session, oldest
        /// first, and the newest tick. From it on the session is told of each that does.
        case following(Int, [LiveBatch], newest: Tick)
        /// Another answer: the batches of the ticks up to one that is not the newest. The session is not followed.
        case matched(Int, [LiveBatch], last: Tick)
        /// Another answer, or the end of being followed: the feed can't tell what came after the session's tick.
        case ticksGone(Int)
        /// The end of being followed: the session asks again from where it stands.
        case followingEnded(Int)
        /// The end of being followed, until ``followingResumed``: the session knows nothing of later ticks.
        case followingPaused(Int)
        case followingResumed
        /// A tick that concerns a session that is followed.
        case live(Int, LiveBatch)
        /// The connection accepts data again, or no longer.
        case writable(Bool)
        /// About every ``ServerSession/heartbeatSeconds``.
        case heartbeat
        /// The user's roles changed.
        case authorityChanged(SessionAuthority)
    }

    public enum Action: Sendable {
        case authenticate(accessToken: String)
        /// Answer with ``Event/opened(_:_:formerly:)``.
        case open(ClientID, user: String, acknowledged: Int64, position: Position)
        case send(ServerMessage)
        /// Send frames that other sessions share.
        case sendFrames(SharedFrames)
        /// Send the frames of a batch as they come, masked, then answer with ``Event/readFinished(_:_:)``. Takes the place of
        /// a read under way, whose frames are not sent any more.
        case read(ReadRequest)
        /// Apply in order; answer with ``Event/uploaded(_:)``.
        case upload([Changeset], SessionAuthority)
        /// Tell the session of ticks after one. Answer with the number, in ``Event/following(_:_:newest:)``,
        /// ``Event/matched(_:_:last:)`` or ``Event/ticksGone(_:)``.
        case follow(Int, after: Int64, LiveView)
        /// Tell it nothing more under this number.
        case unfollow(Int)
        /// After everything sent before.
        case close
    }

    /// What the store says of a device's position.
    public enum PositionCheck: Hashable, Sendable {
        case valid(Tick)
        /// None yet: the device gets everything.
        case none
        /// Older than the changelog reaches: the device gets everything anew, which is a client reset to the app.
        case expired
        /// From another history: the device must reset.
        case foreign
    }

    /// Batches that may be sent beyond what the device has applied.
    public static let maximumUnappliedBatches = 64
    /// Changesets that may wait for the upload under way; a device that sends more fails the session.
    public static let maximumWaitingChangesets = 10_000
    /// The size at which a batch tells of no further changeset that was refused, in bytes.
    public static let maximumRefusalByteCount = 4 << 20
    public static let heartbeatSeconds = 10
    /// An idle device's position is moved on after so many heartbeats: 50 seconds. It tells a proxy that ends silent
    /// connections after a minute that this one is alive, too.
    public static let positionHeartbeats = 5
    /// A device has this long to say hello and to be let in: 10 seconds, and up to 20.
    public static let maximumOpeningHeartbeats = 2
    /// A device that has changesets to show again may be silent for this long: 100 seconds, enough for an upload of the
    /// usual size on a bad connection.
    public static let maximumSilentHeartbeats = 10
    /// A device that ``maximumUnappliedBatches`` wait for has this long to apply one: an hour.
    public static let maximumUnappliedHeartbeats = 360
    /// A failure's message is cut after so many bytes: it may name what the device sent.
    public static let maximumFailureLength = 1_000

    /// Boxed: an idle session takes no room for what only its opening needs.
    indirect enum Phase {
        case waiting
        case authenticating(Hello)
        case opening(Hello)
        case verifying(Hello, PositionCheck, ClientOpening)
        case reading(Read)
        case live
        case closed
    }

    /// A batch under way.
    struct Read {
        /// What the device has meanwhile, for a read that has to begin again.
        let from: Tick?
        let visibility: Visibility
        /// Its end, which waits for the upload under way; see the type's comment.
        var held: (end: BatchEnd, tick: Tick)?
    }

    /// Whether the feed tells the session of ticks, and under which number.
    enum Following: Hashable {
        case no
        case asked(Int)
        case yes(Int)

        var number: Int? {
            switch self {
            case .no: nil
            case .asked(let number), .yes(let number): number
            }
        }
    }

    /// What the device is served with; settled when it says hello, and again by ``move(to:_:)``.
    var schema: Schema
    var phase = Phase.waiting
    var authority: SessionAuthority?
    var client = ClientID(rawValue: 0)
    var deviceColumns: [Int: [Int]] = [:]
    /// What the device calls what was renamed; known once hello came and was accepted.
    public internal(set) var deviceNames = DeviceNames()
    var mask = ColumnMask.none
    var schemaFingerprint: UInt64 = 0
    /// The set that the last batch, or the one under way, is made with.
    var subscriptions = SubscriptionSet.empty
    var visibility = Visibility.nothing
    /// Heartbeats since the device last did what the present phase waits for.
    var heartbeats = 0
    /// The newest tick that has been looked at.
    var tick = Tick.origin
    /// The tick of the last batch that was sent.
    var sentTick: Int64 = 0
    /// The device waits for its first batch, and the session for what the feed knows.
    var owesFirstBatch = false
    var unapplied = 0
    var isWritable = true
    var following = Following.no
    var followCount = 0
    /// Heartbeats since the device was last told a position.
    var idleHeartbeats = 0
    var waitingSubscriptions: SubscriptionSet?
    var needsEverything = false
    /// What the user may see changed while a batch was read.
    var hasNewAuthority = false
    /// What the device's content was made with, where the rules are others now.
    var formerlyReadable: [Int: Predicate]?
    /// Numbers of the upload under way; empty where there is none.
    var uploading: [Int64] = []
    var waitingChangesets: [Changeset] = []
    /// The highest changeset that came on this connection, without a gap after what the device had the outcome of.
    var received: Int64 = 0
    /// The highest changeset that this connection's device has shown to be its own, and all before it.
    var confirmed: Int64 = 0
    /// While verifying: the device has no more changesets to show.
    var isQueueAtEnd = false
    /// The highest changeset whose outcome was sent to the device.
    var acknowledged: Int64 = 0
    /// The client's progress as of `tick`, with the refusals that it has not been told.
    var progress = ClientProgress(last: 0, refusals: [])
    /// A tick waits for the upload under way.
    var isHolding = false
    /// Nothing new is begun: the session is about to move to other classes.
    public internal(set) var isHeld = false
    /// The device must stand on a new tick before it uploads this changeset and those behind it.
    var awaitsNewBase: Int64?

    public init(schema: Schema) { self.schema = schema }

    /// Chooses what the device is served with. Has an effect before hello only.
    public mutating func serve(_ schema: Schema) {
        if case .waiting = phase { self.schema = schema }
    }

    /// The number under which the session follows the feed, or asked to; nil if it does neither.
    public var followingNumber: Int? { following.number }

    /// What the session is sent ticks by.
    public var liveView: LiveView {
        LiveView(visibility: visibility, columns: sentColumns, mask: mask, names: deviceNames)
    }

    /// The device's id; known once hello came.
    public var clientID: ClientID { client }

    public var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// Whether changesets wait for the upload under way.
    public var hasWaitingUploads: Bool { !waitingChangesets.isEmpty }

    /// True while the executor should not take further messages from the device.
    public var isUploadBacklogged: Bool { waitingChangesets.count > Self.maximumWaitingChangesets / 2 }

    public mutating func handle(_ event: Event) -> [Action] {
        let actions = react(to: event)
        return stopFollowing() + actions
    }

    /// Only a live session that can go on is told of ticks.
    mutating func stopFollowing() -> [Action] {
        if case .live = phase, !isHeld, !isHolding { return [] }
        guard let number = following.number else { return [] }
        following = .no
        return [.unfollow(number)]
    }

    /// Takes note that the feed has told the session of all that concerns it up to a tick. Has an effect only while the
    /// session is followed.
    public mutating func reach(_ tick: Tick) {
        guard case .yes = following, case .live = phase, tick.number > self.tick.number else { return }
        self.tick = tick
    }

    private mutating func react(to event: Event) -> [Action] {
        switch (phase, event) {
        case (.closed, _): return []
        case (_, .failed(let failure)): return fail(failure)
        case (_, .writable(let writable)):
            isWritable = writable
            return followIfPossible()
        case (.waiting, .message(.hello(let hello))): return begin(hello)
        case (.waiting, .message):
            return fail(SessionFailure(.badMessage, "A session begins with hello; another message came first."))
        case (.authenticating(let hello), .authenticated(let authority)): return authenticated(hello, authority)
        case (.opening(let hello), .opened(let opening, let check, let formerly)):
            formerlyReadable = formerly
            return open(hello, opening, check)
        case (.reading, .readFinished(let end, let tick)): return finishReading(end, tick)
        case (.reading(let read), .readGivenUp):
            visibility = read.visibility
            return [startReading(from: read.from)]
        case (_, .message(.hello)):
            return fail(SessionFailure(.badMessage, "Hello came twice on one connection."))
        case (.verifying, .message(.subscribe(let set))), (.reading, .message(.subscribe(let set))),
            (.live, .message(.subscribe(let set))):
            return subscribe(to: set)
        case (.verifying, .message(.upload(let changesets))) where changesets.isEmpty:
            isQueueAtEnd = true
            heartbeats = 0
            return uploading.isEmpty ? resetCopy() : []
        case (.verifying, .message(.upload(let changesets))), (.reading, .message(.upload(let changesets))),
            (.live, .message(.upload(let changesets))):
            return upload(changesets)
        case (.reading, .message(.applied)), (.live, .message(.applied)):
            unapplied = max(0, unapplied - 1)
            heartbeats = 0
            return followIfPossible()
        case (_, .message):
            return fail(SessionFailure(.badMessage, "The device sent a message before the session was open."))
        case (_, .uploaded(let results)): return finishUpload(results)
        case (.live, .following(let number, let batches, let newest)) where following == .asked(number):
            return catchUp(batches, to: newest, staying: true)
        case (.live, .matched(let number, let batches, let last)) where following == .asked(number):
            return catchUp(batches, to: last, staying: false)
        case (.live, .ticksGone(let number)) where following.number == number:
            following = .no
            return [startReading(from: tick)]
        case (.live, .followingEnded(let number)) where following.number == number:
            following = .no
            return followIfPossible()
        case (.live, .followingPaused(let number)) where following.number == number:
            following = .no
            return [.unfollow(number)]
        case (_, .followingResumed): return followIfPossible()
        case (.live, .live(let number, let batch)) where following == .yes(number): return look(at: batch)
        case (.live, .heartbeat): return heartbeat()
        case (_, .authorityChanged(let authority)): return change(authority)
        case (.waiting, .heartbeat), (.authenticating, .heartbeat), (.opening, .heartbeat): return countToOpening()
        case (.verifying(_, _, let opening), .heartbeat): return countToUpload(opening)
        case (_, .authenticated), (_, .opened), (_, .readFinished), (_, .readGivenUp), (_, .following), (_, .matched),
            (_, .ticksGone), (_, .followingEnded), (_, .followingPaused), (_, .live), (_, .heartbeat):
            return []
        }
    }

    private mutating func change(_ authority: SessionAuthority) -> [Action] {
        self.authority = authority
        hasNewAuthority = true
        let hiddenLists = hiddenLists(by: authority.readable)
        if authority.hidden != mask.hidden || hiddenLists != mask.hiddenLists {
            // In rows that the device keeps there are values that it may have no longer, or lacks.
            needsEverything = true
            mask.hidden = authority.hidden
            mask.hiddenLists = hiddenLists
            do throws(SessionFailure) {
                try check(waitingSubscriptions ?? subscriptions)
            } catch {
                return fail(error)
            }
        }
        switch phase {
        case .live where !isHeld: return [startReading(from: tick)]
        // What the batch under way has is no longer for the user's eyes.
        case .reading(let read) where needsEverything && read.held == nil: return [startReading(from: nil)]
        default: return []
        }
    }

    // MARK: Opening

    mutating func begin(_ hello: Hello) -> [Action] {
        guard (ProtocolVersion.oldest...ProtocolVersion.current).contains(hello.protocolVersion) else {
            let advice =
                hello.protocolVersion < ProtocolVersion.oldest
                ? "Update the app." : "Update the gateway, or use an older version of the app."
            return fail(
                SessionFailure(
                    .unsupportedVersion,
                    "This gateway speaks protocol versions \(ProtocolVersion.oldest) to \(ProtocolVersion.current); "
                        + "the device speaks \(hello.protocolVersion). \(advice)"))
        }
        client = hello.client
        phase = .authenticating(hello)
        return [.authenticate(accessToken: hello.accessToken)]
    }

    /// Nobody else's hello is looked at more closely.
    mutating func authenticated(_ hello: Hello, _ authority: SessionAuthority) -> [Action] {
        do throws(SessionFailure) {
            let device = try Self.deviceSchema(hello.classes, in: schema)
            deviceColumns = device.columns
            deviceNames = device.names
            mask = ColumnMask(
                hidden: authority.hidden, hiddenLists: hiddenLists(by: authority.readable), required: device.required)
            try check(hello.wantedSubscriptions)
            try checkPartition(hello, authority)
        } catch {
            return fail(error)
        }
        var hello = hello
        if authority.partition != nil {
            hello.activeSubscriptions = everything
            hello.wantedSubscriptions = everything
        }
        // A gateway with wider bounds may have taken it, or it looks at what the user may not read: which objects don't
        // match any more would tell. What the device has by it is replaced, and not refused: the device could never get
        // rid of it.
        if (try? check(hello.activeSubscriptions)) == nil { needsEverything = true }
        schemaFingerprint = HelloClass.fingerprint(of: hello.classes)
        self.authority = authority
        phase = .opening(hello)
        return [.open(hello.client, user: authority.user, acknowledged: hello.acknowledged, position: hello.position)]
    }

    func check(_ set: SubscriptionSet) throws(SessionFailure) {
        do throws(ValueError) {
            try set.check(in: schema)
        } catch {
            throw SessionFailure(.badSubscription, error.message)
        }
        // Which objects match would tell what the user may not read.
        for subscription in set.subscriptions {
            guard let index = schema.index(of: subscription.className), let hidden = mask.hidden[index] else {
                continue
            }
            let item = schema[index]
            for path in subscription.predicate.paths {
                // The names of a path together may be those of one column: of a property of an embedded object.
                guard let name = try? schema.resolve(path, from: item).column?.name,
                    let column = item.columnIndex(name), hidden.contains(column)
                else { continue }
                throw SessionFailure(
                    .badSubscription,
                    "A subscription on \(subscription.className) looks at '\(path)', which the user may not read.")
            }
        }
    }

    mutating func open(_ hello: Hello, _ opening: ClientOpening, _ check: PositionCheck) -> [Action] {
        if let reason = opening.mustReset { return reset(reason) }
        subscriptions = hello.wantedSubscriptions
        acknowledged = hello.acknowledged
        confirmed = hello.acknowledged
        received = hello.acknowledged
        heartbeats = 0
        let content = Welcome(
            protocolVersion: hello.protocolVersion, serverTime: opening.serverTime, lastChangeset: opening.last,
            isExpired: check == .expired)
        let welcome = Action.send(.welcome(content))
        guard opening.last <= hello.acknowledged else {
            phase = .verifying(hello, check, opening)
            return [welcome]
        }
        if check == .foreign { return startFirstBatch(hello, check) }
        if case .valid(let tick) = check, canResume(hello) { return [welcome] + resume(hello, at: tick) }
        return [welcome] + startFirstBatch(hello, check)
    }

    /// Whether the device's content was made with the subscriptions, rules and classes that hold now, so that nothing but
    /// later ticks is missing. Not for one whose changesets are to be verified: the outcome of theirs may be in any tick.
    private func canResume(_ hello: Hello) -> Bool {
        hello.position.tick > 0 && !needsEverything && !hasNewAuthority
            && hello.position.subscriptionVersion == hello.wantedSubscriptions.version
            && hello.activeSubscriptions == hello.wantedSubscriptions
            && hello.position.schemaFingerprint == schemaFingerprint
            && hello.position.rulesFingerprint == authority?.rulesFingerprint
    }

    /// The feed tells the session what came after its device's tick, or that it doesn't reach back so far: the changelog is
    /// read then.
    private mutating func resume(_ hello: Hello, at tick: Tick) -> [Action] {
        phase = .live
        visibility = visibility(of: subscriptions)
        self.tick = tick
        sentTick = tick.number
        progress = ClientProgress(last: hello.acknowledged, refusals: [])
        owesFirstBatch = true
        return followIfPossible()
    }

    mutating func startFirstBatch(_ hello: Hello, _ check: PositionCheck) -> [Action] {
        switch check {
        case .valid(let tick)
        where tick.number > 0 && hello.position.schemaFingerprint == schemaFingerprint:
            guard let before = formerVisibility(of: hello) else { return [startReading(from: nil)] }
            visibility = before
            self.tick = tick
            return [startReading(from: tick)]
        case .valid, .none, .expired: return [startReading(from: nil)]
        case .foreign:
            return confirmation()
                + reset("The server's history is not the one that this device knows; it was restored or replaced.")
        }
    }

    /// What the device has: by the rules as they are, or by those that its content was made with.
    private func formerVisibility(of hello: Hello) -> Visibility? {
        if hello.position.rulesFingerprint == authority?.rulesFingerprint {
            return visibility(of: hello.activeSubscriptions)
        }
        guard let formerly = formerlyReadable else { return nil }
        let readable = { formerly[$0] ?? Predicate.constant(false) }
        // It was kept only because no column was hidden. In rows that the device keeps there would be values that it may
        // have no longer, or lacks.
        guard onDevice(mask.hidden).isEmpty, hiddenLists(by: readable) == mask.hiddenLists else { return nil }
        return Visibility(subscriptions: hello.activeSubscriptions, schema: schema, readable: readable)
    }

    /// The element classes of the device's lists that its user may not read.
    func hiddenLists(by readable: (Int) -> Predicate) -> Set<Int> {
        Visibility.hiddenLists(of: deviceColumns.keys, in: schema, readable: readable)
    }

    /// The columns to send, by class: those of the device, without lists that its user may not read.
    var sentColumns: [Int: [Int]] {
        mask.hiddenLists.isEmpty ? deviceColumns : deviceColumns.filter { !mask.hiddenLists.contains($0.key) }
    }

    func visibility(of set: SubscriptionSet) -> Visibility {
        guard let authority else { return .nothing }
        return Visibility(subscriptions: set, schema: schema, readable: authority.readable)
    }

    // MARK: Batches

    /// Starts reading the batch that brings the device to the wanted subscriptions; nil reads everything.
    mutating func startReading(from tick: Tick?) -> Action {
        owesFirstBatch = false
        if let set = waitingSubscriptions {
            subscriptions = set
            waitingSubscriptions = nil
        }
        let from = needsEverything ? nil : tick
        needsEverything = false
        hasNewAuthority = false
        phase = .reading(Read(from: from, visibility: visibility))
        let new = visibility(of: subscriptions)
        let request = ReadRequest(
            client: client, from: from, old: from == nil ? .nothing : visibility, new: new,
            subscriptionVersion: subscriptions.version, rulesFingerprint: authority?.rulesFingerprint ?? 0,
            schemaFingerprint: schemaFingerprint, deviceColumns: sentColumns, mask: mask)
        visibility = new
        return .read(request)
    }

    mutating func finishReading(_ end: BatchEnd, _ tick: Tick) -> [Action] {
        guard end.acknowledged <= confirmed || uploading.isEmpty else {
            if case .reading(var read) = phase {
                read.held = (end, tick)
                phase = .reading(read)
            }
            return []
        }
        self.tick = tick
        sentTick = tick.number
        idleHeartbeats = 0
        unapplied += 1
        phase = .live
        heartbeats = 0
        progress = ClientProgress(last: end.acknowledged, refusals: end.refusals)
        var end = end
        (end.acknowledged, end.refusals) = acknowledge()
        var actions = [Action.send(.end(end))]
        guard !isHeld else { return actions }
        if waitingSubscriptions != nil || needsEverything || hasNewAuthority {
            actions.append(startReading(from: tick))
        } else {
            actions += followIfPossible()
        }
        return actions
    }

    mutating func subscribe(to set: SubscriptionSet) -> [Action] {
        do throws(SessionFailure) {
            guard authority?.partition == nil else { throw Self.noSubscriptions }
            try check(set)
        } catch {
            return fail(error)
        }
        guard set.version > subscriptions.version else { return [] }
        waitingSubscriptions = set
        if case .live = phase, !isHeld { return [startReading(from: tick)] }
        return []
    }

    private var canTakeBatch: Bool {
        guard case .live = phase else { return false }
        return !isHeld && !isHolding && isWritable && unapplied < Self.maximumUnappliedBatches
    }

    mutating func followIfPossible() -> [Action] {
        guard following == .no, canTakeBatch else { return [] }
        followCount += 1
        following = .asked(followCount)
        return [.follow(followCount, after: tick.number, liveView)]
    }

    /// Takes the batches of ticks after the one that the session stands on.
    /// - Parameter isStaying: whether the session is told of what comes after `last`.
    private mutating func catchUp(_ batches: [LiveBatch], to last: Tick, staying isStaying: Bool) -> [Action] {
        guard let number = following.number else { return [] }
        var actions: [Action] = []
        for batch in batches {
            guard let taken = take(batch) else {
                following = .no
                return (isStaying ? [.unfollow(number)] : []) + actions
            }
            actions += taken
        }
        if last.number > tick.number { tick = last }
        following = isStaying ? .yes(number) : .no
        if owesFirstBatch { actions += ends(frameCount: 0) }
        return actions + followIfPossible()
    }

    private mutating func look(at batch: LiveBatch) -> [Action] {
        if let actions = take(batch) { return actions }
        guard let number = following.number else { return [] }
        following = .no
        return [.unfollow(number)]
    }

    /// - Returns: nil if the session can't take the batch now, and stands on the tick before.
    private mutating func take(_ batch: LiveBatch) -> [Action]? {
        guard batch.tick.number > tick.number else { return [] }
        guard canTakeBatch else { return nil }
        if let news = batch.progress, news.last > confirmed, !uploading.isEmpty {
            isHolding = true
            return nil
        }
        tick = batch.tick
        if let news = batch.progress {
            progress.last = news.last
            progress.refusals += news.refusals
        }
        guard batch.frames != nil || hasAcknowledgement else { return [] }
        guard let frames = batch.frames else { return ends(frameCount: 0, batch.traceparents) }
        return [.sendFrames(frames)] + ends(frameCount: frames.messages.count, batch.traceparents)
    }

    var hasAcknowledgement: Bool { min(progress.last, confirmed) > acknowledged }

    /// What a batch of `tick` acknowledges: 0 where nothing new is known.
    mutating func acknowledge() -> (acknowledged: Int64, refusals: [RefusedWrite]) {
        guard hasAcknowledgement else { return (0, []) }
        let news = (acknowledged + 1)...min(progress.last, confirmed)
        var told: [RefusedWrite] = []
        var byteCount = 0
        var end = news.upperBound
        for refused in progress.refusals where news.contains(refused.number) {
            byteCount += refused.byteCount
            if byteCount > Self.maximumRefusalByteCount, let last = told.last?.number, refused.number > last {
                end = refused.number - 1
                break
            }
            told.append(refused)
        }
        acknowledged = end
        progress.refusals.removeAll { $0.number <= end }
        return (end, told)
    }

    /// Ends a batch, and adds batches without frames while refusals are left that didn't fit.
    mutating func ends(frameCount: Int, _ traceparents: [String] = []) -> [Action] {
        var actions = [Action.send(.end(end(frameCount: frameCount, traceparents)))]
        while hasAcknowledgement { actions.append(.send(.end(end(frameCount: 0)))) }
        return actions
    }

    mutating func end(frameCount: Int, _ traceparents: [String] = []) -> BatchEnd {
        sentTick = tick.number
        owesFirstBatch = false
        idleHeartbeats = 0
        unapplied += 1
        let news = acknowledge()
        return BatchEnd(
            position: Position(
                tick: tick.number, token: tick.token, subscriptionVersion: subscriptions.version,
                rulesFingerprint: authority?.rulesFingerprint ?? 0, schemaFingerprint: schemaFingerprint),
            serverTime: tick.time, acknowledged: news.acknowledged, refusals: news.refusals,
            frameCount: frameCount, traceparents: traceparents)
    }

    /// Moves an idle device's position on, so that its base and its clock stay fresh.
    mutating func heartbeat() -> [Action] {
        heartbeats = unapplied < Self.maximumUnappliedBatches ? 0 : heartbeats + 1
        guard heartbeats < Self.maximumUnappliedHeartbeats else {
            return fail(
                SessionFailure(
                    .unavailable,
                    "The device has \(unapplied) batches to apply and applied none of them for "
                        + "\(Self.maximumUnappliedHeartbeats * Self.heartbeatSeconds / 60) minutes.",
                    isRetryable: true))
        }
        idleHeartbeats += 1
        let isBehind = tick.number > sentTick && idleHeartbeats >= Self.positionHeartbeats
        guard isBehind || hasAcknowledgement, isWritable, unapplied == 0 else { return [] }
        return ends(frameCount: 0)
    }

    // MARK: Ending

    mutating func reset(_ reason: String) -> [Action] {
        phase = .closed
        return [.send(.reset(reason)), .close]
    }

    /// Another copy of the device's file has used its name. Needs a device that is at rest.
    mutating func resetCopy() -> [Action] {
        guard case .verifying = phase else {
            return fail(
                SessionFailure(
                    .unavailable, "Another copy of this device's file has uploaded other changes under its name.",
                    isRetryable: true))
        }
        return confirmation() + reset("Another copy of this device's file has uploaded other changes under its name.")
    }

    /// Acknowledges what the device has shown to be its own, so that it doesn't send it again under a new name.
    private func confirmation() -> [Action] {
        guard case .verifying(let hello, _, let opening) = phase, confirmed > acknowledged else { return [] }
        return [
            .send(
                .end(
                    BatchEnd(
                        position: hello.position, serverTime: opening.serverTime, acknowledged: confirmed,
                        frameCount: 0)))
        ]
    }

    mutating func fail(_ failure: SessionFailure) -> [Action] {
        phase = .closed
        return [.send(.failure(failure.shortened)), .close]
    }
}

extension SessionFailure {
    fileprivate var shortened: SessionFailure {
        SessionFailure(
            code, message.shortened(toByteCount: ServerSession.maximumFailureLength), isRetryable: isRetryable)
    }
}
