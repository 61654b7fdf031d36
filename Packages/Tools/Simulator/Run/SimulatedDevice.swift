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

/// A gateway: its sessions and the last ticks it has read.
final class SimulatedGateway {
    static let ringSize = 3

    let id: Int
    var isUp = true
    var life = 0
    var known = Tick.origin
    var ring: [LiveTick] = []
    var connections: [SimulatedConnection] = []
    var waitingUploads: [(connection: SimulatedConnection, changesets: [Changeset], authority: SessionAuthority)] = []
    var isUploadScheduled = false

    init(id: Int) { self.id = id }
}
