internal import Foundation
public import Tombolo
internal import TomboloModel

/// A synced Realm that a view waits for. It's opened for the app's current user after a download. After a login or a
/// switch it's opened again, for the new current user. Used on the main actor, like views.
///
///     let opening = ObservedOpening(onFailure: .openFile)
///     opening.willChange = { view.setNeedsRedraw() }
///     switch opening.state { case .open(let realm): …; case .waitingForUser: … }
@MainActor
public final class ObservedOpening {
    public enum FailureBehavior: Sendable {
        case showError
        /// Opens the file without the download, for working offline. An error is shown only if that fails too.
        case openFile
    }

    /// Called with the new state when ``state`` is about to change.
    public var willChange: (@MainActor (AsyncOpenState) -> Void)?
    private var partition: (any PartitionValue)?
    private var configuration: Realm.Configuration?
    private let appID: String?
    private let timeout: Duration?
    private var machine: OpeningMachine
    private var shown: AsyncOpenState = .waitingForUser
    private var app: App?
    private var token: AccountChangeToken?
    private var task: Realm.AsyncOpenTask?
    private var timer: Task<Void, Never>?

    /// - Parameters:
    ///   - appID: the ID of an ``Tombolo/App`` that the program has created; nil for the only one.
    ///   - partition: the partition to open, or nil for a Realm with subscriptions.
    ///   - configuration: settings to adopt: classes, encryption key, first subscriptions, client reset mode.
    ///   - timeout: how long to try to connect; nil for no limit.
    public init(
        appID: String? = nil, partition: (any PartitionValue)? = nil, configuration: Realm.Configuration? = nil,
        timeout: Duration? = nil, onFailure: FailureBehavior = .showError
    ) {
        self.appID = appID
        self.partition = partition
        self.configuration = configuration
        self.timeout = timeout
        machine = OpeningMachine(opensFileOnFailure: onFailure == .openFile)
    }

    deinit {
        task?.cancel()
        timer?.cancel()
    }

    /// The current state. The first read starts the opening. Stops the program if it isn't clear which app to use.
    public var state: AsyncOpenState {
        begin()
        return shown
    }

    /// Adopts what the view declares now. A different partition is opened in place of the previous one. Settings apply
    /// to the next opening.
    public func declare(partition: (any PartitionValue)?, configuration: Realm.Configuration?) {
        let isOther = partition.map(Partitioning.init) != self.partition.map(Partitioning.init)
        self.partition = partition
        self.configuration = configuration
        if isOther { handle(.otherRealm) }
    }

    /// Stops an opening in progress. The state becomes an error with the code `ECANCELED`. Otherwise has no effect.
    public func cancel() { handle(.cancelled, error: POSIXError(.ECANCELED)) }

    private func begin() {
        guard app == nil else { return }
        let app = App.known(id: appID)
        self.app = app
        token = app.observe { [weak self] app in
            MainActor.assumeIsolated { self?.handle(.user(app.currentUser?.id)) }
        }
        // Nobody is waiting for a change yet: the caller reads the state next.
        let willChange = willChange
        self.willChange = nil
        handle(.user(app.currentUser?.id))
        self.willChange = willChange
    }

    private func handle(
        _ event: OpeningMachine.Event, realm: Realm? = nil, progress: SyncSession.Progress? = nil,
        error: (any Error)? = nil
    ) {
        for action in machine.handle(event) {
            switch action {
            case .showWaiting: show(.waitingForUser)
            case .showConnecting: show(.connecting)
            case .showProgress: if let progress { show(.progress(Progress(progress))) }
            case .showOpen: if let realm { show(.open(realm)) }
            case .showError: if let error { show(.error(error)) }
            case .open(let attempt): open(attempt)
            case .openFile(let attempt): openFile(attempt)
            case .stop: stop()
            }
        }
    }

    private func show(_ state: AsyncOpenState) {
        willChange?(state)
        shown = state
    }

    private func stop() {
        task?.cancel()
        task = nil
        timer?.cancel()
        timer = nil
    }

    // MARK: Opening

    private func open(_ attempt: Int) {
        guard let configuration = configurationOfUser() else { return }
        let task = Realm.asyncOpen(configuration: configuration, callbackQueue: .main) { [weak self] result in
            self?.stop()
            switch result {
            case .success(let realm): self?.handle(.opened(attempt: attempt), realm: realm)
            case .failure(let error): self?.handle(.failed(attempt: attempt), error: error)
            }
        }
        self.task = task
        task.addProgressNotification(queue: .main) { [weak self] progress in
            MainActor.assumeIsolated { self?.handle(.progress(attempt: attempt), progress: progress) }
        }
        guard let timeout else { return }
        timer = Task { [weak self] in
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            self?.handle(
                .timedOut(attempt: attempt, isConnected: task.isConnected), error: POSIXError(.ETIMEDOUT))
        }
    }

    private func openFile(_ attempt: Int) {
        guard let configuration = configurationOfUser() else { return }
        do {
            handle(.opened(attempt: attempt), realm: try Realm(configuration: configuration))
        } catch {
            handle(.failed(attempt: attempt), error: error)
        }
    }

    /// The user's own Realm with the given settings.
    private func configurationOfUser() -> Realm.Configuration? {
        guard let user = app?.currentUser else { return nil }
        let given = configuration?.syncConfiguration
        let mode = given?.clientResetMode ?? .recoverUnsyncedChanges()
        let own =
            if let partition {
                user.configuration(
                    partitionValue: partition, clientResetMode: mode, cancelAsyncOpenOnNonFatalErrors: true)
            } else if let initial = given?.initialSubscriptions {
                user.flexibleSyncConfiguration(
                    clientResetMode: mode, cancelAsyncOpenOnNonFatalErrors: true,
                    initialSubscriptions: initial.callback, rerunOnOpen: initial.rerunOnOpen)
            } else {
                user.flexibleSyncConfiguration(clientResetMode: mode, cancelAsyncOpenOnNonFatalErrors: true)
            }
        guard var configuration else { return own }
        configuration.syncConfiguration = own.syncConfiguration
        configuration.syncConfiguration?.errorHandler = given?.errorHandler
        // Another user's configuration points to that user's file.
        if given?.user != user { configuration.fileURL = own.fileURL }
        return configuration
    }
}

/// What distinguishes partitions.
private struct Partitioning: Equatable {
    let value: Value

    init(_ partition: any PartitionValue) { value = partition._partitionValue }
}

extension Progress {
    fileprivate convenience init(_ progress: SyncSession.Progress) {
        self.init(totalUnitCount: Int64(progress.transferrable))
        completedUnitCount = Int64(progress.transferred)
    }
}
