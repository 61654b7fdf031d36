public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// The gateway's side of one device's connection: events in, actions out. No I/O, no clock.
///
/// Phases and their transitions:
/// - `waiting` for hello → `authenticating`; anything else fails the session.
/// - `authenticating` → `opening`, or failed.
/// - `opening` → `verifying` if the server has changesets under the client's id whose outcome the device hasn't seen.
///   Otherwise → `live` if only ticks that the feed may still have separate the device from the present. Otherwise →
///   `reading`, reset or failed. A first batch always follows, even if it's empty.
/// - `verifying` → `reading` once the device has shown that each of these changesets is its own. Otherwise reset,
///   because a copy of the device's file sent them.
/// - `reading` a batch → `live`, or `reading` again if subscriptions changed meanwhile, the batch was refused as too
///   old, or the executor had to abandon the read.
/// - `live` → `reading` if subscriptions, rights or classes change, or if the feed no longer has the missing ticks.
/// - `closed`: final.
///
/// A `live` session with nothing in progress can move to other classes: ``hold()``, ``move(to:_:)``.
///
/// Every phase that waits for the device has a time limit, counted in heartbeats: ``maximumOpeningHeartbeats``,
/// ``maximumSilentHeartbeats`` while verifying, and ``maximumUnappliedHeartbeats`` while live. During a read, the
/// executor watches whether the device accepts what it's sent.
///
/// A session is a single sequence of batches: while one is read, no other is sent. A live session follows the feed,
/// which announces only the ticks that concern it. Nothing is queued for a device that reads slowly. A session that
/// can't take a batch stops following, stays at its current tick, and asks for what it missed once it can continue.
/// ``reach(_:)`` moves it past ticks that don't concern it.
///
/// A changeset is acknowledged only on a connection that carried it, so that neither of two copies of one file takes
/// the other's changesets for its own. If a tick's progress is ahead of the current upload, the tick waits for the
/// upload's result.
public struct ServerSession: Sendable {
    public enum Event: Sendable {
        case message(ClientMessage)
        case authenticated(SessionAuthority)
        case failed(SessionFailure)
        /// - Parameter formerly: what the user could read under the rules fingerprint of the device's position, by
        ///   class position, if that fingerprint isn't the current one. Nil if that's unknown.
        case opened(ClientOpening, PositionCheck, formerly: [Int: Predicate]? = nil)
        /// The current read is complete and its frames are on their way. Carries the tick that it was made at.
        case readFinished(BatchEnd, Tick)
        /// The current read was abandoned because the device doesn't accept data. The batch starts again at frame 0,
        /// with what the session knows by then.
        case readGivenUp
        case uploaded([UploadResult])
        /// An answer to ``Action/follow(_:after:_:)``, with its number: the batches for the ticks that concern the
        /// session, oldest first, and the newest tick. From then on the session is told of each tick that concerns it.
        case following(Int, [LiveBatch], newest: Tick)
        /// Another answer: the batches for the ticks up to one that isn't the newest. The session isn't followed.
        case matched(Int, [LiveBatch], last: Tick)
        /// Another answer, or the end of following: the feed can't tell what came after the session's tick.
        case ticksGone(Int)
        /// The end of following. The session asks again from its current tick.
        case followingEnded(Int)
        /// The end of following until ``followingResumed``. The session isn't told of later ticks.
        case followingPaused(Int)
        case followingResumed
        /// A tick that concerns a session that is being followed.
        case live(Int, LiveBatch)
        /// Whether the connection accepts data has changed.
        case writable(Bool)
        /// Sent about every ``ServerSession/heartbeatSeconds``.
        case heartbeat
        /// The user's roles changed.
        case authorityChanged(SessionAuthority)
    }

    public enum Action: Sendable {
        case authenticate(accessToken: String)
        /// Answer with ``Event/opened(_:_:formerly:)``.
        case open(ClientID, user: String, acknowledged: Int64, position: Position)
        case send(ServerMessage)
        /// Send frames that several sessions share.
        case sendFrames(SharedFrames)
        /// Send the frames of a batch as they're read, masked, then answer with ``Event/readFinished(_:_:)``. Replaces
        /// the current read, whose remaining frames must not be sent.
        case read(ReadRequest)
        /// Apply the changesets in order, then answer with ``Event/uploaded(_:)``.
        case upload([Changeset], SessionAuthority)
        /// Tell the session of the ticks after the given one. Answer with the number, in
        /// ``Event/following(_:_:newest:)``, ``Event/matched(_:_:last:)`` or ``Event/ticksGone(_:)``.
        case follow(Int, after: Int64, LiveView)
        /// Stop telling the session of ticks under this number.
        case unfollow(Int)
        /// Close the connection after everything sent so far.
        case close
    }

    /// The result of checking a device's position against the store.
    public enum PositionCheck: Hashable, Sendable {
        case valid(Tick)
        /// The device has no position yet and gets everything.
        case none
        /// Older than the changelog reaches. The device gets everything again, which the app sees as a client reset.
        case expired
        /// From another history. The device must reset.
        case foreign
    }

    /// The maximum number of batches sent that the device hasn't applied yet.
    public static let maximumUnappliedBatches = 64
    /// The maximum number of changesets that may wait for the current upload. A device that sends more fails the session.
    public static let maximumWaitingChangesets = 10_000
    /// The size in bytes beyond which a batch doesn't include the refusals of further changesets.
    public static let maximumRefusalByteCount = 4 << 20
    public static let heartbeatSeconds = 10
    /// An idle device's position is moved forward after this many heartbeats (50 seconds). This also shows proxies that
    /// close silent connections after a minute that the connection is alive.
    public static let positionHeartbeats = 5
    /// The time within which a device must say hello and be let in: 10 to 20 seconds.
    public static let maximumOpeningHeartbeats = 2
    /// How long a device that has to show changesets again may be silent: 100 seconds, enough for an upload of the
    /// usual size on a bad connection.
    public static let maximumSilentHeartbeats = 10
    /// The time within which a device with ``maximumUnappliedBatches`` outstanding batches must apply one: an hour.
    public static let maximumUnappliedHeartbeats = 360
    /// The length in bytes at which a failure's message is cut, because it may quote what the device sent.
    public static let maximumFailureLength = 1_000

    /// Boxed, so that an idle session doesn't reserve space for what only the opening needs.
    indirect enum Phase {
        case waiting
        case authenticating(Hello)
        case opening(Hello)
        case verifying(Hello, PositionCheck, ClientOpening)
        case reading(Read)
        case live
        case closed
    }

    /// A batch that is being read.
    struct Read {
        /// What the device still has, in case the read has to start again.
        let from: Tick?
        let visibility: Visibility
        /// The batch's end while it waits for the current upload; see the type's description.
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

    /// The schema with which the device is served. Fixed when it says hello, and changed by ``move(to:_:)``.
    var schema: Schema
    var phase = Phase.waiting
    var authority: SessionAuthority?
    var client = ClientID(rawValue: 0)
    var deviceColumns: [Int: [Int]] = [:]
    /// The device's names for renamed classes and properties. Known once the hello was accepted.
    public internal(set) var deviceNames = DeviceNames()
    var mask = ColumnMask.none
    var schemaFingerprint: UInt64 = 0
    /// The set that the last batch, or the current one, is made with.
    var subscriptions = SubscriptionSet.empty
    var visibility = Visibility.nothing
    /// Heartbeats since the device last did what the current phase waits for.
    var heartbeats = 0
    /// The newest tick that the session has handled.
    var tick = Tick.origin
    /// The tick of the last batch sent.
    var sentTick: Int64 = 0
    /// Whether the device waits for its first batch while the session waits for the feed's answer.
    var owesFirstBatch = false
    var unapplied = 0
    var isWritable = true
    var following = Following.no
    var followCount = 0
    /// Heartbeats since the device was last sent a position.
    var idleHeartbeats = 0
    var waitingSubscriptions: SubscriptionSet?
    var needsEverything = false
    /// Whether the user's rights changed while a batch was being read.
    var hasNewAuthority = false
    /// What the user could read when the device's content was made, if other rules apply now.
    var formerlyReadable: [Int: Predicate]?
    /// The changeset numbers of the current upload; empty if there is none.
    var uploading: [Int64] = []
    var waitingChangesets: [Changeset] = []
    /// The highest changeset received on this connection in an unbroken sequence after those whose outcome the device has.
    var received: Int64 = 0
    /// The highest changeset that the device has shown to be its own on this connection, along with all before it.
    var confirmed: Int64 = 0
    /// While verifying: whether the device has no more changesets to show.
    var isQueueAtEnd = false
    /// The highest changeset whose outcome was sent to the device.
    var acknowledged: Int64 = 0
    /// The client's progress as of `tick`, with the refusals that it hasn't been sent.
    var progress = ClientProgress(last: 0, refusals: [])
    /// Whether a tick waits for the current upload.
    var isHolding = false
    /// Whether nothing new may start because the session is about to move to other classes.
    public internal(set) var isHeld = false
    /// If set, the device must be at a new tick before it uploads this changeset and later ones.
    var awaitsNewBase: Int64?

    public init(schema: Schema) { self.schema = schema }

    /// Chooses the schema with which the device is served. Has an effect only before hello.
    public mutating func serve(_ schema: Schema) {
        if case .waiting = phase { self.schema = schema }
    }

    /// The number under which the session follows the feed or has asked to; nil if it does neither.
    public var followingNumber: Int? { following.number }

    /// The view for which the feed sends ticks to the session.
    public var liveView: LiveView {
        LiveView(visibility: visibility, columns: sentColumns, mask: mask, names: deviceNames)
    }

    /// The device's client id. Known once the hello has arrived.
    public var clientID: ClientID { client }

    public var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// Whether changesets wait for the current upload.
    public var hasWaitingUploads: Bool { !waitingChangesets.isEmpty }

    /// Whether the executor should stop taking messages from the device for now.
    public var isUploadBacklogged: Bool { waitingChangesets.count > Self.maximumWaitingChangesets / 2 }

    public mutating func handle(_ event: Event) -> [Action] {
        let actions = react(to: event)
        return stopFollowing() + actions
    }

    /// Stops following unless the session is live and can continue.
    mutating func stopFollowing() -> [Action] {
        if case .live = phase, !isHeld, !isHolding { return [] }
        guard let number = following.number else { return [] }
        following = .no
        return [.unfollow(number)]
    }

    /// Notes that the feed has announced everything that concerns the session up to a tick. Has an effect only while
    /// the session is followed.
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
            return fail(SessionFailure(.badMessage, "A session must begin with hello, but another message came first."))
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
            // Rows that the device keeps have values that it may no longer have, or lack values that it may have now.
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
        // The user may no longer see some of what the current batch contains.
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

    /// Ends the session because another copy of the device's file has used its client id. While verifying, the device
    /// is told to reset. In any other phase, the session fails with a retryable failure.
    mutating func resetCopy() -> [Action] {
        guard case .verifying = phase else {
            return fail(
                SessionFailure(
                    .unavailable, "Another copy of this device's file has uploaded different changes under its name.",
                    isRetryable: true))
        }
        return confirmation()
            + reset("Another copy of this device's file has uploaded different changes under its name.")
    }

    /// Acknowledges the changesets that the device has shown to be its own, so that it doesn't send them again under a
    /// new client id.
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
