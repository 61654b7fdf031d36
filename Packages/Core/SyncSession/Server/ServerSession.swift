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
    // MARK: Batches
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
    func confirmation() -> [Action] {
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
