public import Foundation
public import Logging
public import PostgresClient
import Synchronization
public import TomboloHTTP
import TomboloLocalization

/// The current values of an admin server's settings that can be changed in the panel. Code that uses a setting reads
/// it here each time.
public final class LiveSettings: Sendable {
    /// One lock guards all of it.
    private struct State: Sendable {
        var values: SettingValues
        /// What was entered in the panel, including values that have no effect.
        var entered: [ChangeableSetting: String] = [:]
        /// The number of refreshes that have begun, and the newest that has finished: they may overtake each other.
        var begun = 0
        var newest = 0
        /// Whether the last refresh failed.
        var isFailing = false
    }

    private let sources: SettingSources
    private let state: Mutex<State>

    /// The environment's values. The panel's follow with ``refresh(_:logger:)``.
    /// - Parameters:
    ///   - options: values that override variables, by the variables' names, such as command-line options.
    ///   - defaults: apply if neither a variable nor the panel has a value.
    /// - Throws: `ConfigurationError` with every problem of the variables at once.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment, options: [String: String] = [:],
        defaults: SettingValues = SettingValues()
    ) throws(ConfigurationError) {
        sources = SettingSources(environment: environment, options: options, defaults: defaults)
        state = Mutex(State(values: try sources.values([:]).values))
    }

    /// Settings without any variable.
    public init(_ defaults: SettingValues) {
        sources = SettingSources(defaults: defaults)
        state = Mutex(State(values: defaults))
    }

    public var current: SettingValues { state.withLock(\.values) }

    /// Whether an environment variable sets it, so that the panel's value has no effect.
    package func isFixed(_ setting: ChangeableSetting) -> Bool { sources.start[setting] != nil }

    /// Reads what was entered in the panel. On return, everything committed before the call is in effect.
    public func refresh(_ pool: PostgresPool, logger: Logger) async throws {
        let look = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let entered = try await SettingHistory(pool).newest().compactMapValues(\.value)
        guard state.withLock({ look > $0.newest && $0.entered != entered }) else {
            return state.withLock { $0.newest = max($0.newest, look) }
        }
        // The reasons are for the log, so they're in English.
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
                logger.error("The panel's value for \(setting.name) is ignored: \(reason)")
            } else if sources.start[setting] != nil {
                logger.notice("\(setting.name) was changed in the panel, but the variable takes precedence.")
            } else {
                let now = entered[setting].map(setting.shown) ?? "the default"
                logger.notice("\(setting.name) was changed in the panel, to \(now).")
            }
        }
    }

    /// ``refresh(_:logger:)`` for repeated calls: logs a failure only once until it's over.
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
            if !wasFailing { logger.error("Can't read the panel's settings; will try again: \(error)") }
        }
    }
}
