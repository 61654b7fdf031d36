import Foundation
public import Logging
import NIOSSL
public import ServiceLifecycle
import Synchronization
import UnixSignals

/// A server's certificate, which may be replaced while the server runs. New connections get the new one; those that
/// stand keep theirs.
///
/// As a service it follows the files: SIGHUP has them read at once; otherwise they're looked at every ``pollInterval``,
/// and taken once they were the same twice, since a certificate and its key are two files. Files that can't be used
/// change nothing, and are logged once.
public final class TLSCertificate: Service {
    /// How often the files are looked at.
    public static let defaultPollInterval = Duration.seconds(5)
    /// A certificate that ends sooner than this is worth a warning, in seconds.
    static let warningTime: TimeInterval = 14 * 86_400

    private struct State {
        var loaded: LoadedCertificate
        /// What the last look found, if it differs from what's loaded.
        var seen: LoadedCertificate.Content?
        /// The problem that was logged last.
        var logged: String?
    }

    private let files: CertificateFiles
    private let pollInterval: Duration
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads the files.
    /// - Throws: ``CertificateError``.
    public init(
        _ files: CertificateFiles, pollInterval: Duration = TLSCertificate.defaultPollInterval, logger: Logger
    ) throws(CertificateError) {
        self.files = files
        self.pollInterval = pollInterval
        self.logger = logger
        let loaded = try LoadedCertificate(.init(files), of: files, now: Date())
        state = Mutex(State(loaded: loaded))
        announce(loaded)
    }

    /// For a new connection.
    var context: NIOSSLContext { state.withLock { $0.loaded.context } }

    /// Follows the files until shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) { self.look(isAsked: true) }
                }
                group.addTask {
                    while !Task.isCancelled {
                        try? await Task.sleep(for: self.pollInterval)
                        self.look(isAsked: false)
                    }
                }
                await group.waitForAll()
            }
        }
    }

    /// Reads the files, and takes what they have.
    /// - Parameter isAsked: by an operator: the files are complete, and whatever is wrong is said again.
    func look(isAsked: Bool) {
        do throws(CertificateError) {
            let content = try LoadedCertificate.Content(files)
            let isSettled = state.withLock { state in
                defer { state.seen = content }
                return isAsked || state.seen == content
            }
            guard content != state.withLock({ $0.loaded.content }) else {
                state.withLock { $0.logged = nil }
                if isAsked { logger.notice("The certificate in '\(files.certificate)' is in use already.") }
                return
            }
            guard isSettled else { return }
            let loaded = try LoadedCertificate(content, of: files, now: Date())
            state.withLock { state in
                state.loaded = loaded
                state.logged = nil
            }
            announce(loaded)
        } catch {
            let isNew = state.withLock { state in
                defer { state.logged = error.description }
                return state.logged != error.description
            }
            guard isNew || isAsked else { return }
            logger.error("\(error) The server goes on with the certificate that it has.")
        }
    }

    private func announce(_ loaded: LoadedCertificate) {
        let text =
            "New connections get the certificate in '\(files.certificate)', valid until "
            + "\(loaded.validUntil.formatted(.iso8601))."
        if loaded.validUntil.timeIntervalSinceNow < Self.warningTime {
            logger.warning("\(text) Renew it soon.")
        } else {
            logger.notice("\(text)")
        }
    }
}
