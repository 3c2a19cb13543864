package io.dbsemaphore.testing;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * As much of what a driver and its server say to each other as a proxy must understand to recognise a commit. One
 * instance reads one direction of one connection. Encryption and compression must be off.
 */
abstract class WireProtocol {

    /** The next message as it was sent, or null when there are no more. */
    final byte @Nullable [] read(DataInputStream in) throws IOException {
        int first = in.read();
        return first < 0 ? null : read((byte) first, in);
    }

    abstract byte[] read(byte first, DataInputStream in) throws IOException;

    /** The SQL that this message of the client has executed, or null when it executes none. */
    abstract @Nullable String executedSql(byte[] message);

    /** Whether the client waits for an answer after this message of its. */
    abstract boolean awaitsAnswer(byte[] message);

    /** Whether with this message the server has answered a commit completely. */
    abstract boolean endsAnswer(byte[] message);

    /** Whether clients send more before they have the answer. Then {@link #endsAnswer} is right for every answer. */
    abstract boolean sendsAhead();

    private static byte[] message(int headerLength, int bodyLength, byte[] header, DataInputStream in)
            throws IOException {
        byte[] message = new byte[headerLength + bodyLength];
        System.arraycopy(header, 0, message, 0, headerLength);
        in.readFully(message, headerLength, bodyLength);
        return message;
    }

    /** MySQL and MariaDB: 3 bytes of length, a sequence number that is 0 where a command begins, the payload. */
    static final class MySql extends WireProtocol {

        private static final int HEADER = 4;
        private static final byte COM_QUIT = 0x01;
        private static final byte COM_QUERY = 0x03;
        private static final byte COM_STMT_CLOSE = 0x19;
        private static final int MORE_RESULTS = 8;

        @Override
        byte[] read(byte first, DataInputStream in) throws IOException {
            byte[] header = new byte[HEADER];
            header[0] = first;
            in.readFully(header, 1, HEADER - 1);
            int length = Byte.toUnsignedInt(header[0])
                    | Byte.toUnsignedInt(header[1]) << 8
                    | Byte.toUnsignedInt(header[2]) << 16;
            return message(HEADER, length, header, in);
        }

        @Override
        @Nullable String executedSql(byte[] message) {
            if (!isCommand(message) || message[HEADER] != COM_QUERY) {
                return null;
            }
            // With query attributes, the text comes after "no parameters" and "one set of them".
            boolean attributes = message.length > HEADER + 2 && message[HEADER + 1] == 0 && message[HEADER + 2] == 1;
            int begin = HEADER + (attributes ? 3 : 1);
            return new String(message, begin, message.length - begin, StandardCharsets.UTF_8);
        }

        @Override
        boolean awaitsAnswer(byte[] message) {
            return isCommand(message) && message[HEADER] != COM_QUIT && message[HEADER] != COM_STMT_CLOSE;
        }

        /** An answer of several statements ends with the one that does not speak of more. */
        @Override
        boolean endsAnswer(byte[] message) {
            return message.length <= HEADER || message[HEADER] != 0 || !speaksOfMore(message);
        }

        @Override
        boolean sendsAhead() {
            return false;
        }

        private static boolean speaksOfMore(byte[] ok) {
            int status = afterNumber(ok, afterNumber(ok, HEADER + 1));
            return (ok[status] & MORE_RESULTS) != 0;
        }

        private static int afterNumber(byte[] message, int begin) {
            return begin
                    + switch (Byte.toUnsignedInt(message[begin])) {
                        case 0xfc -> 3;
                        case 0xfd -> 4;
                        case 0xfe -> 9;
                        default -> 1;
                    };
        }

        private static boolean isCommand(byte[] message) {
            return message.length > HEADER && message[HEADER - 1] == 0;
        }
    }

    /** PostgreSQL: a type, 4 bytes of length; only the first message of a client has no type. */
    static final class PostgreSql extends WireProtocol {

        private final Map<String, String> prepared = new HashMap<>();
        private boolean untyped;

        PostgreSql(boolean client) {
            this.untyped = client;
        }

        @Override
        byte[] read(byte first, DataInputStream in) throws IOException {
            int headerLength = untyped ? 4 : 5;
            byte[] header = new byte[headerLength];
            header[0] = first;
            in.readFully(header, 1, headerLength - 1);
            int length = ByteBuffer.wrap(header, headerLength - 4, 4)
                    .order(ByteOrder.BIG_ENDIAN)
                    .getInt();
            untyped = false;
            return message(headerLength, length - 4, header, in);
        }

        @Override
        @Nullable String executedSql(byte[] message) {
            return switch (message[0]) {
                case 'Q' -> text(message, 5);
                case 'P' -> {
                    prepared.put(text(message, 5), text(message, after(message, 5)));
                    yield null;
                }
                case 'B' -> prepared.get(text(message, after(message, 5)));
                default -> null;
            };
        }

        @Override
        boolean awaitsAnswer(byte[] message) {
            return message[0] == 'Q' || message[0] == 'S';
        }

        @Override
        boolean endsAnswer(byte[] message) {
            return message[0] == 'Z';
        }

        /** The driver sends BEGIN, which is a message of its own, and does not wait before it sends the first statements. */
        @Override
        boolean sendsAhead() {
            return true;
        }

        private static int after(byte[] message, int begin) {
            int end = begin;
            while (message[end] != 0) {
                end++;
            }
            return end + 1;
        }

        private static String text(byte[] message, int begin) {
            return new String(message, begin, after(message, begin) - 1 - begin, StandardCharsets.UTF_8);
        }
    }
}
