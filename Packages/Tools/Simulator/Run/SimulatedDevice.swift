internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// A device: a file, which survives a crash, and a session, which doesn't.
final class SimulatedDevice {
    let id: Int
    let user: Int
    var store: SimulatedDeviceStore
    var session: ClientSession
    var isUp = true
    /// Numbers the lives of the process: requests of an earlier one aren't answered.
    var life = 0
    var connection: SimulatedConnection?
    /// The session's actions that wait for the current store action.
    var actions: [ClientSession.Action] = []
    var isStoreBusy = false
    /// The error of the device's clock in microseconds.
    var skew: Int64 = 0
    var lastTick: Int64 = 0
    var nextSet: Int64 = 1

    init(id: Int, user: Int, store: SimulatedDeviceStore) {
        self.id = id
        self.user = user
        self.store = store
        session = ClientSession(schema: store.schema)
        beginSession()
    }

    /// Some lives stage every frame but the last, others few or none.
    func beginSession() {
        session = ClientSession(schema: store.schema, maximumUnstagedByteCount: [0, 400, .max][(id + life) % 3])
    }
}

/// A connection with the messages in flight, in both directions.
final class SimulatedConnection {
    let id: Int
    let device: SimulatedDevice
    let gateway: SimulatedGateway
    var session: ServerSession
    var isOpen = true
    /// Whether the gateway closes it once everything is sent.
    var isClosing = false
    var up: [ClientMessage] = []
    var down: [ServerMessage] = []
    var delay = 2
    var isWritable = true
    /// The client ID in the hello.
    var client = ClientID(rawValue: 0)
    /// The remaining frames of the current read.
    var frames: [BatchFrame] = []
    var readEnd: (BatchEnd, Tick)?

    init(id: Int, device: SimulatedDevice, gateway: SimulatedGateway) {
        self.id = id
        self.device = device
        self.gateway = gateway
        session = ServerSession(schema: device.store.schema)
    }
}

/// A connection's membership in its gateway's feed.
struct SimulatedMember: Hashable {
    let connection: Int
    let number: Int
}

/// A gateway: its sessions and its feed.
final class SimulatedGateway {
    static let ringSize = 3

    /// What sessions ask of the feed, in order.
    enum Request {
        case follow(SimulatedConnection, LiveFeed<SimulatedMember>.Request)
        case unfollow(SimulatedMember)
    }

    /// What the feed tells them, in order.
    enum News {
        case answer(SimulatedConnection, Int, LiveFeed<SimulatedMember>.Answer)
        case batch(SimulatedMember, LiveBatch)
        case ended(SimulatedMember)
        case gone(SimulatedMember)
        case reached(Tick)
    }

    let id: Int
    var isUp = true
    var life = 0
    var live = SimulatedGateway.emptyFeed
    /// Everything that concerns the sessions was sent up to this tick.
    var reached = Tick.origin
    var requests: [Request] = []
    var news: [News] = []
    var connections: [SimulatedConnection] = []
    var waitingUploads: [(connection: SimulatedConnection, changesets: [Changeset], authority: SessionAuthority)] = []
    var isUploadScheduled = false

    init(id: Int) { self.id = id }

    static var emptyFeed: LiveFeed<SimulatedMember> {
        LiveFeed(
            schema: SimulatedSchema.schema,
            bounds: .init(tickCount: ringSize, itemCount: .max, byteCount: .max))
    }
}
