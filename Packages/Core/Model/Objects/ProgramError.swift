/// Stops the program because of a programming error, with a message even in release builds.
package func programError(_ message: String) -> Never { fatalError(message) }
