import Foundation
public import Logging
import NIOSSL
public import ServiceLifecycle
import Synchronization
import UnixSignals

/// A server's certificate, which may be replaced while the server runs. New connections get the new certificate;
/// existing ones keep theirs.
///
/// As a service, it follows the files. On SIGHUP it reads them at once. Otherwise it checks them every
/// ``pollInterval``, and loads a change once two checks in a row saw the same contents, since a certificate and its key
/// are two files. Files that can't be used change nothing, and are logged once.
public final class TLSCertificate: Service {
    /// How often the files are checked.
    public static let defaultPollInterval = Duration.seconds(5)
    /// A warning is logged if a certificate expires sooner than this, in seconds.
    static let warningTime: TimeInterval = 14 * 86_400

    private struct State {
        var loaded: LoadedCertificate
        /// The contents at the last check, if they differ from the loaded ones.
        var seen: LoadedCertificate.Content?
        /// The last logged problem.
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

    /// The TLS context for a new connection.
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

    /// Reads the files, and loads what they contain.
    /// - Parameter isAsked: whether an operator asked for it: then the files are complete, and any problem is logged
    ///   again.
    func look(isAsked: Bool) {
        do throws(CertificateError) {
            let content = try LoadedCertificate.Content(files)
            let isSettled = state.withLock { state in
                defer { state.seen = content }
                return isAsked || state.seen == content
            }
            guard content != state.withLock({ $0.loaded.content }) else {
                state.withLock { $0.logged = nil }
                if isAsked { logger.notice("The certificate in '\(files.certificate)' is already in use.") }
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
            logger.error("\(error) The server keeps using its current certificate.")
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
