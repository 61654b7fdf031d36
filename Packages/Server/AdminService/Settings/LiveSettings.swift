public import Foundation
public import Logging
public import PostgresClient
import Synchronization
public import TomboloHTTP
import TomboloLocalization

/// The settings of an admin server that may be changed in the panel, as they are now. Whoever uses one reads it here each time.
public final class LiveSettings: Sendable {
    /// One lock guards all of it.
    private struct State: Sendable {
        var values: SettingValues
        /// What was entered in the panel, also what doesn't count.
        var entered: [ChangeableSetting: String] = [:]
        /// Looks that have begun, and the newest of those that have come to something: they may overtake each other.
        var begun = 0
        var newest = 0
        /// Whether the last look failed.
        var isFailing = false
    }

    private let sources: SettingSources
    private let state: Mutex<State>

    /// As the environment says; what the panel says comes with ``refresh(_:logger:)``.
    /// - Parameters:
    ///   - options: count instead of variables, by their names, such as options of the command line.
    ///   - defaults: count where neither a variable nor the panel says anything.
    /// - Throws: `ConfigurationError` with every problem of the variables at once.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment, options: [String: String] = [:],
        defaults: SettingValues = SettingValues()
    ) throws(ConfigurationError) {
        sources = SettingSources(environment: environment, options: options, defaults: defaults)
        state = Mutex(State(values: try sources.values([:]).values))
    }

    /// Without any variable.
    public init(_ defaults: SettingValues) {
        sources = SettingSources(defaults: defaults)
        state = Mutex(State(values: defaults))
    }

    public var current: SettingValues { state.withLock(\.values) }

    /// Whether a variable sets it where the server is started, so that the panel doesn't count.
    package func isFixed(_ setting: ChangeableSetting) -> Bool { sources.start[setting] != nil }

    /// Takes up what was entered in the panel. Returns when everything counts that was committed before the call.
    public func refresh(_ pool: PostgresPool, logger: Logger) async throws {
        let look = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let entered = try await SettingHistory(pool).newest().compactMapValues(\.value)
        guard state.withLock({ look > $0.newest && $0.entered != entered }) else {
            return state.withLock { $0.newest = max($0.newest, look) }
        }
        // The reasons are for the log.
        let (values, refused) = try MessageCatalogue.$current.withValue(nil) { try sources.values(entered) }
        let changed: [ChangeableSetting] = state.withLock { state in
            guard look > state.newest else { return [] }
            let changed = ChangeableSetting.allCases.filter { state.entered[$0] != entered[$0] }
            state.newest = look
            (state.values, state.entered) = (values, entered)
            return changed
        }
        for setting in changed {
            if let reason = refused[setting] {
                logger.error("What the panel has for \(setting.name) doesn't count: \(reason)")
            } else if sources.start[setting] != nil {
                logger.notice("\(setting.name) was changed in the panel, but the variable takes precedence.")
            } else {
                let now = entered[setting].map(setting.shown) ?? "the default"
                logger.notice("\(setting.name) was changed in the panel, to \(now).")
            }
        }
    }

    /// ``refresh(_:logger:)`` for one who does it again and again: a failure is logged, once until it's over.
    package func follow(_ pool: PostgresPool, logger: Logger) async {
        do {
            try await refresh(pool, logger: logger)
            state.withLock { $0.isFailing = false }
        } catch is CancellationError {
            return
        } catch {
            let wasFailing = state.withLock { state in
                defer { state.isFailing = true }
                return state.isFailing
            }
            if !wasFailing { logger.error("Settings of the panel can't be read, which is tried again: \(error)") }
        }
    }
}
